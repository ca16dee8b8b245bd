#include "tools/l4/commands/setup/unit.h"

#include <doctest/doctest.h>

#include "tests/temp_folder.h"

namespace l4::commands::setup {
namespace {

constexpr auto kUnit = R"([Service]
ExecStartPre=/usr/bin/l4-agent --check-config --config /etc/l4/other.toml
ExecStart=/usr/bin/l4-agent --config /etc/l4/agent.toml
StateDirectory=l4-agent
User=l4-agent
AmbientCapabilities=CAP_DAC_READ_SEARCH CAP_SYSLOG
ProtectSystem=strict
ProtectHome=yes
# PrivateTmp=no
PrivateTmp=yes
)";

TEST_CASE("unit: what the unit's program sees and may write") {
  const test::TempFolder folder;
  CHECK_FALSE(find_unit("l4-agent", {folder.path()}).is_installed());
  folder.file("lib/l4-agent.service", kUnit);
  const Unit unit = find_unit("l4-agent", {folder.path() / "etc", folder.path() / "lib"});
  REQUIRE(unit.is_installed());
  CHECK(unit.user == "l4-agent");
  CHECK(unit.config == "/etc/l4/agent.toml");
  CHECK(unit.reads_all);
  CHECK(unit.state == "/var/lib/l4-agent");
  CHECK(unit.may_write("/var/lib/l4-agent/spool"));
  CHECK_FALSE(unit.may_write("/var/lib/l4-agent-2"));
  CHECK(unit.hidden("/tmp/logs/x").find("PrivateTmp") != std::string::npos);
  CHECK(unit.hidden("/home/a/logs").find("ProtectHome") != std::string::npos);
  CHECK(unit.hidden("/tmpfs/logs").empty());
  CHECK(unit.hidden("/var/log/training").empty());
  CHECK(without_systemd(unit) ==
        "setpriv --reuid l4-agent --regid l4-agent --clear-groups --inh-caps "
        "+dac_read_search,+syslog --ambient-caps +dac_read_search,+syslog ");
  Unit plain = unit;
  plain.capabilities.clear();
  CHECK(without_systemd(plain) == "runuser -u l4-agent -- ");
  CHECK(without_systemd(Unit{}).empty());
}

TEST_CASE("unit: drop-ins change it, and those of a stronger folder hide weaker ones") {
  const test::TempFolder folder;
  folder.file("lib/l4-agent.service", kUnit);
  folder.file("lib/l4-agent.service.d/tmp.conf", "[Service]\nPrivateTmp=yes\n");
  folder.file("etc/l4-agent.service.d/tmp.conf", "[Service]\nPrivateTmp=no\n");
  folder.file("etc/l4-agent.service.d/rights.conf",
              "[Service]\nAmbientCapabilities=\nReadWritePaths=/data\nUser=other\n");
  const Unit unit = find_unit("l4-agent", {folder.path() / "etc", folder.path() / "lib"});
  CHECK(unit.user == "other");
  CHECK_FALSE(unit.reads_all);
  CHECK_FALSE(unit.private_tmp);
  CHECK(unit.hidden("/tmp/logs").empty());
  CHECK(unit.may_write("/data/l4"));
}

}  // namespace
}  // namespace l4::commands::setup
