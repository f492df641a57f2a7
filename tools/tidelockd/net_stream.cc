#include "tools/tidelockd/net_stream.h"

#include <fmt/format.h>

namespace tidelock::tidelockd {

Result<std::shared_ptr<ssl::context>, std::string> make_tls_context(const TlsSettings& settings, TlsSide side) {
    if (!settings.is_on()) return std::shared_ptr<ssl::context>();
    auto context =
        std::make_shared<ssl::context>(side == TlsSide::kServer ? ssl::context::tls_server : ssl::context::tls_client);
    boost::system::error_code error;
    const auto failed = [&](const char* key, const std::string& file) {
        return Failure<std::string>(
            fmt::format("Server.Replication.Tls.{}: {} cannot be used: {}", key, file, error.message()));
    };
    context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, error);
    context->use_certificate_chain_file(settings.certificate, error);
    if (error) return failed("Certificate", settings.certificate);
    context->use_private_key_file(settings.key, ssl::context::pem, error);
    if (error) return failed("Key", settings.key);
    if (!settings.authorities.empty()) {
        context->load_verify_file(settings.authorities, error);
        if (error) return failed("Authorities", settings.authorities);
    }
    // A client always wants to know whom it talks to, as far as it knows whom to believe; a server if it is told to.
    const bool verifies =
        side == TlsSide::kClient ? !settings.authorities.empty() : settings.verify == TlsVerify::kRequired;
    context->set_verify_mode(verifies ? ssl::verify_peer | ssl::verify_fail_if_no_peer_cert : ssl::verify_none, error);
    return context;
}

}  // namespace tidelock::tidelockd
