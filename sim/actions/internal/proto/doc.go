// Package proto is the protocol of pre/post action plugins: generated code, and actions.proto which it is generated from.
package proto

//go:generate sh generate.sh
