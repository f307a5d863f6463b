#!/bin/sh
# Generates the Go code of actions.proto. It needs protoc 3.21 (Debian's package protobuf-compiler).
set -e
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -r "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.11
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
PATH=$bin:$PATH protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative actions.proto
