"""The words by which tools tell of failures, in English and Chinese, with how sure each is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.observation.soft.ports import SoftLabel
from taoloop.tools.schemas import CompiledSchema

SURE: Final = 0.97
"""Said of nothing else."""
LIKELY: Final = 0.8
"""Two of them make sure, one does not."""
HINT: Final = 0.5
"""Of use beside others."""


class Words:
    """Patterns of words that the linear engine looks for, so that no text takes long."""

    __slots__ = ("_anywhere",)

    def __init__(self, *patterns: str) -> None:
        self._anywhere: Final = CompiledSchema.compile({"anyOf": [{"pattern": pattern} for pattern in patterns]})

    def are_in(self, text: str) -> bool:
        """Tell whether the words stand in a text of lower case."""
        return self._anywhere.is_valid(text)


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that speak for a label.

    Attributes:
        label: Which one.
        certainty: How sure they make it, 0 to 1.
        words: The words.
    """

    label: SoftLabel
    certainty: float
    words: Words


def _cue(label: SoftLabel, certainty: float, *ways: str) -> Cue:
    return Cue(label, certainty, Words(*ways))


_NETWORK: Final = SoftLabel.NETWORK_ISSUE
_AUTH: Final = SoftLabel.AUTH_FAILED
_DATA: Final = SoftLabel.DATA_CORRUPTED
_RATE: Final = SoftLabel.RATE_LIMITED

_AWAY: Final = r"(?:upstream|downstream|gateway|backend|server|host|service|remote|proxy|database|socket|peer|client)"

CUES: Final[tuple[Cue, ...]] = (
    _cue(
        _NETWORK,
        SURE,
        r"\be(?:connrefused|connreset|connaborted|timedout|hostunreach|netunreach|notfound|ai_again)\b",
        r"\bconnection (?:was )?(?:refused|reset|aborted|timed out|lost|closed unexpectedly)\b",
        r"\bconnect(?:ion)? time(?:d )?-?out\b|\bread timed out\b|\bi/o timeout\b|\bhandshake timeout\b",
        r"\b(?:bad gateway|gateway time-?out)\b|\bconnection_(?:reset|refused|timed_out|closed)\b",
        rf"\b{_AWAY}\b.{{0,30}}\b(?:timed out|unreachable|unavailable|not respond(?:ing)?)\b",
        rf"\b(?:timed out|deadline exceeded|waiting)\b.{{0,40}}\b(?:{_AWAY}|contacting|connecting|reply)\b",
        r"\bclosed connection without\b|\bconnection to .{0,20}(?:was|is) lost\b",
        r"\bcould not reach\b|\bhandshake failure\b",
        r"\bname resolution\b|\bname or service not known\b|\bcould not resolve host\b|\bno such host\b",
        r"\bdns (?:lookup |resolution )?(?:failed|failure|error)\b",
        r"\bsocket hang up\b|\bbroken pipe\b|\bno route to host\b",
        r"\b(?:network|host|destination) (?:is )?unreachable\b",
        r"\b(?:connection|socket)(?:timeout)?exception\b|\bsockettimeout\w*",
        r"\bcontext deadline exceeded\b|\bmax retries exceeded with url\b",
        r"\bserver has gone away\b|\blost connection to\b|\bcommunications link failure\b",
        r"\bcould not connect to\b|\bunable to (?:reach|connect)\b|\bfailed to (?:connect|reach)\b",
        r"\bfailed to establish a (?:new )?connection\b",
        r"\bno healthy upstream\b|\bupstream (?:connect|request)\b",
        r"网络(?:异常|超时|连接超时|不可达|故障|错误|中断|不通|抖动)",
        r"连接(?:超时|被拒绝|被.{0,4}重置|中断|异常|失败|已断开)",
        r"请求超时|响应超时|读取超时|网关超时|调用.{0,6}超时|域名解析失败|dns ?解析(?:失败|错误)",
        r"无法连接|服务(?:器|端)?(?:暂时)?(?:无响应|不可达)",
        r"(?:接口|服务|系统|渠道|通道).{0,3}(?:未响应|无响应)|上游.{0,3}不可用|主机不可达",
        r"远程主机强迫关闭|通(?:讯|信)(?:失败|异常|中断)",
    ),
    _cue(
        _NETWORK,
        LIKELY,
        r"\btimed? ?-?out\b|\bdeadline exceeded\b|\bunreachable\b",
        r"\bnot respond(?:ing|ed)?\b|\bdid not respond\b",
        r"\bunavailable\b|超时|不可达|未返回|断开|握手失败|无法访问",
    ),
    _cue(
        _NETWORK,
        HINT,
        rf"\b{_AWAY}\b|\bconnect\w*|\bnetwork\b|\bretry\b|\b50[234]\b",
        r"网络|连接|服务器|服务|接口|下游|上游|网关|稍后",
    ),
    _cue(
        _AUTH,
        SURE,
        r"\bunauthori[sz]ed\b|\bunauthenticated\b|\bauthenti\w+ (?:failed|failure|required|error)\b",
        r"\b(?:invalid|bad|incorrect|wrong|missing) (?:\w+ )?(?:credentials?|api ?key|password|token|signature)\b",
        r"\b(?:user ?name|user) or password\b|\blog ?in failed\b|\bnot logged in\b|\bmust be logged in\b",
        r"\b(?:token|session) (?:has |is |was )?(?:been )?(?:expired|revoked|invalid)\b",
        r"\binvalid_(?:token|client|grant)\b",
        r"\bapi key (?:is )?(?:missing|invalid|expired|revoked)\b",
        r"\bsignature(?:s)? (?:verification failed|does not match|mismatch)\b|\bsignaturedoesnotmatch\b",
        r"\bforbidden\b|\bpermission[ _]denied\b|\baccess ?denied\b|\baccessdenied\w*|\bnot authori[sz]ed\b",
        r"\binsufficient[ _](?:scope|privileges?|permissions?)\b",
        r"\b(?:no|lacks?) permission\b|\bnot permitted to\b",
        r"\baccount (?:has been |is |was )?(?:locked|disabled|suspended)\b",
        r"\bnot in the (?:whitelist|allow ?list)\b",
        r"\bhmac mismatch\b|\bmfa code is (?:wrong|invalid)\b|客户端证书(?:无效|过期|不正确)",
        r"认证失败|身份(?:验证|认证|校验)失败|鉴权失败",
        r"签名(?:错误|无效|不正确|验证不通过|验证失败|校验失败)|验签(?:失败|不通过)",
        r"密码(?:错误|不正确)|账[号户](?:已)?被?(?:锁定|停用|禁用|冻结)",
        r"登录(?:已)?(?:过期|失效)|(?:会话|登录状态)(?:已)?(?:失效|过期)",
        r"未登录|请先登录|重新登录|登录失败|(?:token|令牌|凭证|密钥)\s*(?:已)?(?:过期|失效|无效)",
        r"无权(?:限|查看|访问|操作)|没有.{0,4}权限|权限不足|拒绝访问",
        r"禁止访问|不在白名单|未授权|授权(?:已)?(?:被撤销|过期|失效)",
    ),
    _cue(
        _AUTH,
        LIKELY,
        r"\b40[13]\b|\bcredentials?\b|\bauthorization header\b|\bprivileges?\b|\bexpired\b.*\bsign in\b",
        r"\bsign in again\b|\b(?:client )?certificate .*(?:rejected|required)\b",
        r"\baccount .*(?:locked|disabled)\b",
        r"\bnot allowed to\b|\bnot permitted\b|\bwhitelist\b|\ballow ?list\b|\bverify your identity\b",
        r"无效或已过期|accesskey|appkey|appsecret|访问令牌|客户端证书|请求头",
    ),
    _cue(
        _AUTH,
        HINT,
        r"\btokens?\b|\bpasswords?\b|\bsignature\b|\bsession\b",
        r"\blog ?in\b|\boauth\b|\bjwt\b|\bhmac\b|\bpermission\b",
        r"\brejected\b|\baccount\b|\bmfa\b|认证|鉴权|权限|授权",
        r"登录|签名|令牌|密钥|凭证|证书|密码|账号|账户|验证",
    ),
    _cue(
        _DATA,
        SURE,
        r"\bcorrupt(?:ed|ion)?\b|\bchecksum (?:mismatch|error|failed)\b|\bcrc (?:check|error)\w*|\bmalformed\b",
        r"\bunexpected (?:token|end of (?:input|file|json|archive|stream))\b|\bexpecting value: line\b",
        r"\b(?:json|xml|yaml) (?:parse|syntax) ?error\b",
        r"\binvalid (?:json|xml|utf-?8|base64|header|continuation byte)\b",
        r"\b(?:could not|cannot|can't|failed to) (?:be )?(?:de(?:code|serialize|compress)|parse)\w*",
        r"\bde-?seriali[sz]ation (?:error|failed)\b",
        r"\btruncated (?:response|message|body|file)\b|\bincomplete message\b",
        r"\b(?:digest|hash|content length) mismatch\b",
        r"\bpremature end of (?:file|data)\b|\bincorrect header check\b",
        r"\bintegrity check (?:failed|error)\b|\bfailed (?:its|the|an) integrity check\b|\bunpars(?:e)?able\b",
        r"\b(?:page|block|file|record|row|index|image|disk|data)\b.{0,12}\b(?:is|are) damaged\b",
        r"\bended before the end\b",
        r"(?:xml|json|报文|数据)\s*格式(?:不正确|错误|异常)|非法的报文|报文长度",
        r"损坏|校验和(?:不一致|错误)|(?:crc|md5) ?校验(?:错误|失败|不通过)|数据校验失败",
        r"(?:报文|json|xml|数据|响应).{0,4}解析(?:失败|错误)",
        r"反序列化(?:失败|错误)|无法(?:解析|解码)|响应被截断",
        r"数据(?:包)?不完整|乱码|解压失败|摘要不匹配",
    ),
    _cue(
        _DATA,
        LIKELY,
        r"\bcould not be parsed\b|\bunparse?able\b|\bunreadable\b",
        r"\bdamaged\b|\bgarbled\b|\bparse failure\b|\btruncated\b",
        r"\bbad data\b|解析失败|格式(?:不正确|错误|异常)|编码错误|声明不符",
    ),
    _cue(
        _DATA,
        HINT,
        r"\b(?:json|xml|utf-?8|payload|record|row|page|file|data|document|message|image|hash|digest|header)\b",
        r"\b(?:did|does) not match\b",
        r"数据|报文|文件|附件|xml|json|编码|字符集|校验|解析|摘要",
    ),
    _cue(
        _RATE,
        SURE,
        r"\btoo many (?:concurrent )?(?:requests|connections|calls)\b",
        r"\brate[ -]?limit(?:ed|s|ing)?\b|\bthrottl(?:ed|ing)\w*",
        r"\b(?:quota|qps|concurrency|usage)(?: \w+)? (?:limit )?(?:exceeded|exhausted|reached|hit)\b",
        r"\b(?:request|query|call|burst)(?: \w+)? (?:limit )?(?:exceeded|exhausted|reached|hit)\b",
        r"\bexceeded (?:your |the )?(?:\w+ )?quota\b",
        r"\bquota\b.*\b(?:exceeded|exhausted|used up)\b|\bresource_exhausted\b",
        r"\brate exceeded\b|\bslow ?down\b|\breduce your request rate\b|\brequest rate is too\b",
        r"\bover_(?:\w+_)?limit\b|\bflow control\b|\btoo frequent\b",
        r"\bnumber of (?:requests|calls)\b.{0,20}\bexceeded\b",
        r"限流|流控|过于频繁|太频繁|频率(?:超限|过高|超过)",
        r"(?:次数|用量|流量|频次|并发数?).{0,3}(?:已达上限|超限|超过|已用完|过高)",
        r"配额(?:不足|已用尽|已用完|超限)|超出.{0,4}(?:qps|配额)|速率过快|超过每(?:秒|分钟|小时|日|天)",
    ),
    _cue(
        _RATE,
        LIKELY,
        r"\b429\b|\bover (?:\w+ )?limit\b|\brequests? .*\bexceeded\b",
        r"\bnumber of calls\b|\blimited to \d+ per\b|频繁|上限|限额",
        r"\bcall limit\b|\bmaximum number of\b",
    ),
    _cue(
        _RATE,
        HINT,
        r"\bper (?:second|minute|hour|day)\b|\brequests?\b|\bquota\b",
        r"\bfrequency\b|\bcalls\b|次数|频率|请求|调用|稍后|并发|额度",
    ),
)

RELIEF: Final = Words(
    r"\b(?:success(?:ful(?:ly)?)?|succeeded|restored|recovered|refreshed|granted|verified|passed|operational|completed)\b"
    r"|\bno errors?\b|\bwithout (?:corruption|errors?)\b|\bhow to\b|\bguide\b|\bwhat to do\b|\bset to\b|\bplanned\b"
    r"|\b(?:issued|created|imported|finished|remaining|left today|in stock)\b|\ballows? \d"
    r"|成功|已恢复|恢复正常|通过|完成|已开通|如何|设置为|没有错误|剩余|还可查询|已提交|现货|已补发|已退回|包装损坏|税号"
)
"""Words of relief, of instructions, of plans and of goods: a text with them tells of no failure of a call."""

NO_RELIEF: Final = (
    "不通过",
    "未通过",
    "不成功",
    "未成功",
    "成功率",
    "未完成",
    "not completed",
    "not verified",
    "not granted",
)
"""What looks like relief and is none."""
