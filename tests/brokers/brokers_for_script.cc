// Three brokers for a test that is a script: it starts this program, and they end when it does or when it closes the
// program's input. The program says where they are (host:port, with commas between), once one of them serves; then it
// answers each line of its input with one line:
//   leader     the id of the broker that serves, 0 when there is none
//   kill ID    kill -9; "ok"
//   start ID   of one that was killed; "ok"
//   logs       the brokers' last log lines go to the standard error; "ok"
#include <signal.h>

#include <iostream>
#include <sstream>
#include <string>

#include "tests/brokers/brokers.h"

namespace {

using tidelock::tests::Brokers;

std::string carry_out(Brokers& brokers, const std::string& line) {
    std::istringstream words(line);
    std::string command;
    int id = 0;
    words >> command >> id;
    if (command == "leader") return std::to_string(brokers.leader());
    const bool is_one = id >= 1 && id <= 3;
    if (command == "kill" && is_one) {
        brokers.kill(id, SIGKILL);
    } else if (command == "start" && is_one && !brokers.is_running(id)) {
        brokers.start(id);
    } else if (command == "logs") {
        std::cerr << brokers.logs() << std::flush;
    } else {
        return "cannot '" + line + "'";
    }
    return "ok";
}

}  // namespace

/// Arguments: what goes into each configuration's "Server".
int main(int argc, char** argv) {
    Brokers brokers(3, argc > 1 ? argv[1] : "");
    if (brokers.leader() == 0) {
        std::cerr << "no broker serves\n" << brokers.logs();
        return 1;
    }
    std::cout << brokers.addresses() << std::endl;
    for (std::string line; std::getline(std::cin, line);) std::cout << carry_out(brokers, line) << std::endl;
    return 0;
}
