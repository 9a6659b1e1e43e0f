#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "base/check.h"
#include "net/authorities.h"
#include "net/http_client.h"
#include "net/url.h"

namespace nanwatch {
namespace {

struct CurlGlobal {
  CurlGlobal() { CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); }
};

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// Takes the beginning of an answer and lets the rest pass.
size_t TakeBody(char* data, size_t size, size_t count, void* reply) {
  std::string& body = static_cast<PostReply*>(reply)->body;
  const size_t bytes = size * count;
  body.append(data, std::min(bytes, kReplyBytes - body.size()));
  return bytes;
}

// One POST under way.
class Transfer {
 public:
  explicit Transfer(const HttpPost& request)
      : endpoint_(EndpointOf(request.url)), easy_(curl_easy_init()) {
    CHECK(easy_ != nullptr);
    headers_.reset(curl_slist_append(
        nullptr, ("Content-Type: " + request.content_type).c_str()));
    headers_.reset(curl_slist_append(headers_.release(), "Expect:"));
    for (const std::string& header : request.headers) {
      headers_.reset(curl_slist_append(headers_.release(), header.c_str()));
    }
    CURL* const easy = easy_.get();
    curl_easy_setopt(easy, CURLOPT_URL, endpoint_.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "nanwatch");
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     std::max<long>(1, request.timeout.count() / 1000));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, TakeBody);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reply_);
    const HttpTls& tls = request.tls;
    const std::string authorities =
        tls.ca.empty() ? AuthoritiesFile(UsualAuthorities()) : tls.ca;
    if (!tls.cert.empty()) {
      curl_easy_setopt(easy, CURLOPT_SSLCERT, tls.cert.c_str());
      curl_easy_setopt(easy, CURLOPT_SSLKEY, tls.key.c_str());
    }
    if (!authorities.empty()) {
      curl_easy_setopt(easy, CURLOPT_CAINFO, authorities.c_str());
    }
    if (!endpoint_.unix_socket.empty()) {
      curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH,
                       endpoint_.unix_socket.c_str());
    }
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() { return easy_.get(); }

  void Done(CURLcode code) {
    done_ = true;
    if (code != CURLE_OK) {
      // Not curl's own buffer, which may quote the URL.
      reply_.error = curl_easy_strerror(code);
      return;
    }
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    reply_.status = static_cast<int>(status);
    curl_off_t wait = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &wait);
    constexpr curl_off_t kLongestWait = 3600;
    if (wait > 0) {
      reply_.retry_after = std::chrono::seconds(std::min(wait, kLongestWait));
    }
  }

  PostReply Take() {
    if (!done_) reply_.error = "cancelled";
    return std::move(reply_);
  }

 private:
  const Endpoint endpoint_;
  PostReply reply_;
  bool done_ = false;
  std::unique_ptr<curl_slist, ListDeleter> headers_;
  std::unique_ptr<CURL, EasyDeleter> easy_;
};

class CurlHttpClient : public HttpClient {
 public:
  CurlHttpClient() {
    static const CurlGlobal global;
    multi_ = curl_multi_init();
    CHECK(multi_ != nullptr);
  }
  ~CurlHttpClient() override { curl_multi_cleanup(multi_); }

  std::vector<PostReply> PostAll(std::span<const HttpPost> requests) override {
    std::vector<std::unique_ptr<Transfer>> transfers;
    for (const HttpPost& request : requests) {
      transfers.push_back(std::make_unique<Transfer>(request));
      curl_multi_add_handle(multi_, transfers.back()->easy());
    }
    int running = 0;
    do {
      curl_multi_perform(multi_, &running);
      Collect(transfers);
      constexpr int kLongestPollMs = 1000;
      if (running > 0) {
        curl_multi_poll(multi_, nullptr, 0, kLongestPollMs, nullptr);
      }
    } while (running > 0 && !cancelled_.load());
    std::vector<PostReply> replies;
    for (const std::unique_ptr<Transfer>& transfer : transfers) {
      curl_multi_remove_handle(multi_, transfer->easy());
      replies.push_back(transfer->Take());
    }
    return replies;
  }

  void Cancel() override {
    cancelled_.store(true);
    curl_multi_wakeup(multi_);
  }
  void Resume() override { cancelled_.store(false); }

 private:
  void Collect(const std::vector<std::unique_ptr<Transfer>>& transfers) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      for (const std::unique_ptr<Transfer>& transfer : transfers) {
        if (transfer->easy() == message->easy_handle) {
          transfer->Done(message->data.result);
        }
      }
    }
  }

  CURLM* multi_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace

std::unique_ptr<HttpClient> NewCurlHttpClient() {
  return std::make_unique<CurlHttpClient>();
}

}  // namespace nanwatch
