"""What contracts mean, checked beyond their form: each alone, then against the other tools of the catalogue."""

from taoloop.tools.loading.checks.contract import check_contract
from taoloop.tools.loading.checks.faults import ContractFault
from taoloop.tools.loading.checks.links import link_faults
from taoloop.tools.loading.checks.style import style_warnings

__all__ = ["ContractFault", "check_contract", "link_faults", "style_warnings"]
