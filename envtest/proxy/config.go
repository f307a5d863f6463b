package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Config is what reaches the API server through the proxy. It has the token: keep it private.
func (p *Proxy) Config() *rest.Config { return rest.CopyConfig(p.config) }

// Kubeconfig is Config as a kubeconfig file.
func (p *Proxy) Kubeconfig() ([]byte, error) {
	const name = "velosim"
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: p.config.Host, CertificateAuthorityData: p.config.CAData}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: p.config.BearerToken}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	c.CurrentContext = name
	return clientcmd.Write(*c)
}

// WriteKubeconfig puts Kubeconfig at path, for the user only (0600), in place of any file that is there. Its folder must
// exist. It is left to the caller to remove.
func (p *Proxy) WriteKubeconfig(path string) error {
	if err := p.writeKubeconfig(path); err != nil {
		return fmt.Errorf("write the API proxy's kubeconfig to %s: %w", path, err)
	}
	return nil
}

func (p *Proxy) writeKubeconfig(path string) error {
	data, err := p.Kubeconfig()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// newCertificate makes a self-signed certificate for 127.0.0.1, and what clients are to trust, as PEM.
func newCertificate() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "velosim API proxy"},
		NotBefore:    now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
