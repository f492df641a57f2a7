#include "tools/tidelock/commands.h"
#include "tools/tidelock/scenario_engine.h"

int main(int argc, char** argv) {
    return tidelock::tools::run_program(tidelock::tools::ScenarioEngine(), argc, argv);
}
