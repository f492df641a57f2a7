/// Laws in tests: RapidCheck looks for a case in which one does not hold.
#pragma once

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>

/// Fails the test when the law does not hold; rc::check alone prints the case, and the test passes. Cases are the same
/// in every run; RC_PARAMS="seed=7 max_success=10000" draws others, and more.
template <typename Law>
void check_law(const std::string& name, Law&& law) {
    if (!rc::check(name, std::forward<Law>(law))) FAIL("the law does not hold, its smallest case stands above");
}
template <typename Law>
void check_law(Law&& law) {
    check_law(std::string(), std::forward<Law>(law));
}
