// SPDX-License-Identifier: Apache-2.0
#include "support/loopback_server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <mutex>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace cnpa {
namespace {

void Require(bool succeeded) {
  if (!succeeded) std::abort();
}

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

Owned<SSL_CTX> MakeContext(const Identity& identity, const std::string& client_ca_pem) {
  Owned<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  const Owned<BIO> key_bio(BIO_new_mem_buf(identity.key_pem.data(), static_cast<int>(identity.key_pem.size())));
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
  const Owned<BIO> chain(
      BIO_new_mem_buf(identity.certificate_pem.data(), static_cast<int>(identity.certificate_pem.size())));
  const Owned<X509> first(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  Require(SSL_CTX_use_certificate(context.get(), first.get()) == 1);
  while (const Owned<X509> between{PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)}) {
    Require(SSL_CTX_add1_chain_cert(context.get(), between.get()) == 1);
  }
  ERR_clear_error();
  Require(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1);
  if (!client_ca_pem.empty()) {
    const Owned<BIO> bio(BIO_new_mem_buf(client_ca_pem.data(), static_cast<int>(client_ca_pem.size())));
    while (const Owned<X509> authority{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
      Require(X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get()) == 1);
    }
    ERR_clear_error();
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

/// Returns the name in the certificate that the other end presented; "" without one.
std::string NameOfClient(const SSL* ssl) {
  const Owned<X509> certificate(SSL_get1_peer_certificate(ssl));
  if (!certificate) return {};
  std::array<char, 64> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(), name.size());
  return name.data();
}

std::string Lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

LoopbackServer::Received ParseHead(const std::string& head) {
  LoopbackServer::Received request;
  const std::size_t first = head.find(' ');
  const std::size_t second = head.find(' ', first + 1);
  request.method = head.substr(0, first);
  request.path = head.substr(first + 1, second - first - 1);
  for (std::size_t line = head.find("\r\n"); line != std::string::npos; line = head.find("\r\n", line + 2)) {
    const std::size_t colon = head.find(": ", line);
    const std::size_t end = std::min(head.find("\r\n", line + 2), head.size());
    if (colon < end)
      request.headers[Lowered(head.substr(line + 2, colon - line - 2))] = head.substr(colon + 2, end - colon - 2);
  }
  return request;
}

}  // namespace

class LoopbackServer::Impl {
 public:
  Impl(const Identity& identity, Handler handler, const std::string& client_ca_pem, Family family)
      : context_(MakeContext(identity, client_ca_pem)),
        handler_(std::move(handler)),
        listener_(::socket(family == Family::kIpv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (family == Family::kIpv6) {
      sockaddr_in6 address{.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
      Listen(address);
      port_ = ntohs(address.sin6_port);
    } else {
      sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
      Listen(address);
      port_ = ntohs(address.sin_port);
    }
    acceptor_ = std::thread([this] { Accept(); });
  }

  ~Impl() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& worker : workers_) worker.join();
    ::close(listener_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  Impl(Impl&&) = delete;
  Impl& operator=(Impl&&) = delete;

  int port() const { return port_; }
  int connections() const { return connections_; }
  std::vector<Received> received() const {
    const std::lock_guard lock(mutex_);
    return received_;
  }

 private:
  /// Puts the port into `address`.
  template <typename Address>
  void Listen(Address& address) const {
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    Require(::bind(listener_, generic, size) == 0 && ::listen(listener_, 64) == 0);
    Require(::getsockname(listener_, generic, &size) == 0);
  }

  void Accept() {
    while (!stopping_) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      ++connections_;
      {
        const std::lock_guard lock(mutex_);
        open_.insert(fd);
      }
      workers_.emplace_back([this, fd] { Serve(fd); });
    }
  }

  void Serve(int fd) {
    const Owned<SSL> ssl(SSL_new(context_.get()));
    SSL_set_fd(ssl.get(), fd);
    if (SSL_accept(ssl.get()) == 1) {
      std::string buffer;
      while (Answer(ssl.get(), fd, buffer)) {
      }
    }
    const std::lock_guard lock(mutex_);
    open_.erase(fd);
    ::close(fd);
  }

  /// Reads one request and answers it; returns whether the connection stays.
  bool Answer(SSL* ssl, int fd, std::string& buffer) {
    std::size_t head = 0;
    while ((head = buffer.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadMore(ssl, buffer)) return false;
    }
    Received request = ParseHead(buffer.substr(0, head));
    const auto length = request.headers.find("content-length");
    const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
    while (buffer.size() < head + 4 + size) {
      if (!ReadMore(ssl, buffer)) return false;
    }
    request.body = buffer.substr(head + 4, size);
    request.client = NameOfClient(ssl);
    buffer.erase(0, head + 4 + size);
    {
      const std::lock_guard lock(mutex_);
      received_.push_back(request);
    }
    const std::string answer = handler_(request);
    if (answer == kNever) return ReadMore(ssl, buffer);  // Until one of the two sides closes.
    if (answer.empty() || SSL_write(ssl, answer.data(), static_cast<int>(answer.size())) <= 0) return false;
    if (answer.find("Connection: close") == std::string::npos) return true;
    SSL_shutdown(ssl);
    ::shutdown(fd, SHUT_WR);
    return false;
  }

  static bool ReadMore(SSL* ssl, std::string& buffer) {
    char bytes[4096];
    const int count = SSL_read(ssl, bytes, sizeof bytes);
    if (count <= 0) return false;
    buffer.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  Owned<SSL_CTX> context_;
  Handler handler_;
  int listener_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> connections_{0};
  mutable std::mutex mutex_;
  std::vector<Received> received_;
  std::set<int> open_;
  std::vector<std::thread> workers_;
  std::thread acceptor_;
};

LoopbackServer::LoopbackServer(const Identity& identity, Handler handler, const std::string& client_ca_pem,
                               Family family)
    : impl_(std::make_unique<Impl>(identity, std::move(handler), client_ca_pem, family)) {}
LoopbackServer::~LoopbackServer() = default;

int LoopbackServer::port() const {
  return impl_->port();
}
std::vector<LoopbackServer::Received> LoopbackServer::received() const {
  return impl_->received();
}
int LoopbackServer::connections() const {
  return impl_->connections();
}

std::string HttpAnswer(int code, const std::string& body, const std::string& more_headers) {
  return "HTTP/1.1 " + std::to_string(code) + " Words\r\nContent-Type: application/json\r\n" + more_headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace cnpa
