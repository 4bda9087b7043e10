#include "culmen/transport/network/certificate.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr long ten_years_s = 10L * 365 * 24 * 3600;

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* thing) const {
    free(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using X509Pointer = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;

void expect(bool good) {
  if (!good) throw TransportError("OpenSSL cannot make a certificate");
}

std::string text_of(BIO* bio) {
  const char* data = nullptr;
  const auto size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

void name(X509* certificate) {
  auto* subject = X509_get_subject_name(certificate);
  const auto* common = reinterpret_cast<const unsigned char*>("culmen");
  expect(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common, -1, -1, 0) == 1);
  expect(X509_set_issuer_name(certificate, subject) == 1);
}

X509Pointer read_certificate(const std::string& chain) {
  const Bio bio(BIO_new_mem_buf(chain.data(), static_cast<int>(chain.size())));
  return X509Pointer(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

std::string reason() { return std::generic_category().message(errno); }

/// The file is there as a whole, or not at all. Another process may make it now: then its file stays.
void write_for_owner(const std::string& path, const std::string& text) {
  const auto part = fmt::format("{}.{}.{}.part", path, getpid(), gettid());
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) throw InputError(fmt::format("the certificate {} cannot be made: {}", path, reason()));
  const auto written = write(fd, text.data(), text.size());
  close(fd);
  const bool whole = written == static_cast<ssize_t>(text.size());
  const bool there =
      whole && (link(part.c_str(), path.c_str()) == 0 || errno == EEXIST || rename(part.c_str(), path.c_str()) == 0);
  const auto why = reason();
  unlink(part.c_str());
  if (!there) throw InputError(fmt::format("the certificate {} cannot be written: {}", path, why));
}
}  // namespace

Certificate make_certificate() {
  const Key key(EVP_EC_gen("P-256"));
  const X509Pointer certificate(X509_new());
  expect(key && certificate);
  expect(X509_set_version(certificate.get(), X509_VERSION_3) == 1);
  std::uint32_t serial = 0;
  expect(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1);
  expect(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial) == 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ten_years_s);
  expect(X509_set_pubkey(certificate.get(), key.get()) == 1);
  name(certificate.get());
  expect(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
  const Bio chain(BIO_new(BIO_s_mem())), secret(BIO_new(BIO_s_mem()));
  expect(PEM_write_bio_X509(chain.get(), certificate.get()) == 1);
  expect(PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return {text_of(chain.get()), text_of(secret.get())};
}

Certificate certificate_in(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    const auto made = make_certificate();
    write_for_owner(path, made.chain + made.key);
  }
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    throw InputError(fmt::format("the certificate {} cannot be read: {}", path, reason()));
  const auto all = text.str();
  const Bio bio(BIO_new_mem_buf(all.data(), static_cast<int>(all.size())));
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  const auto certificate = read_certificate(all);
  if (!key || !certificate || X509_check_private_key(certificate.get(), key.get()) != 1)
    throw InputError(fmt::format("{} is not a certificate with its private key, both as PEM", path));
  return {all, all};
}

std::string fingerprint_of(const std::string& chain) {
  const auto certificate = read_certificate(chain);
  if (!certificate) throw InputError("there is no certificate to take the fingerprint of");
  return fingerprint_of(*certificate);
}

std::string fingerprint_of(const x509_st& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  expect(X509_digest(&certificate, EVP_sha256(), digest.data(), &size) == 1);
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

}  // namespace culmen
