// The certificate with which a master shows that it is the right one.
#pragma once
#include <string>

struct x509_st;  // OpenSSL's X509

namespace culmen {

/// PEM of a certificate and its private key.
struct Certificate {
  std::string chain;
  std::string key;
};

/// Makes a self-signed certificate with a new key (ECDSA, P-256), valid for ten years. Workers know it by its
/// fingerprint, not by a name. Throws TransportError.
Certificate make_certificate();
/// Reads a file that has both. A file that does not exist is made, readable only by its owner. Throws InputError if
/// it cannot be read or made, or has no certificate with its key.
Certificate certificate_in(const std::string& path);
/// SHA-256 of the (first) certificate, as 64 hexadecimal digits. Throws InputError if there is none.
std::string fingerprint_of(const std::string& chain);
std::string fingerprint_of(const x509_st& certificate);

}  // namespace culmen
