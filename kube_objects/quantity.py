"""Parses, prints, compares and adds Kubernetes quantities (`500m`, `2Gi`, `1e3`), as apimachinery's resource.Quantity does.

A quantity is `number * 10**exponent` with the family of its suffix: `DecimalSI` (n u m k M G T P E), `BinarySI` (Ki ... Ei) or
`DecimalExponent` (e3). Wherever a quantity is taken, its JSON text or number is taken too.
"""

from __future__ import annotations

from typing import NamedTuple

from kube_objects.digits import DIGITS, leading_number

DECIMAL_SI, BINARY_SI, DECIMAL_EXPONENT = "DecimalSI", "BinarySI", "DecimalExponent"
NANO = -9
"""The smallest unit: finer amounts are rounded up, away from zero."""
LARGEST_INT64 = 2**63 - 1
MAX_TEXT_LENGTH, MAX_EXPONENT = 200, 1000
"""Our own bounds, far beyond any machine, so that no text makes a computation expensive."""

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_OF = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIXES = ("", *_BINARY)

QuantityValue = str | int | float


class QuantityError(ValueError):
    """Reports a text that is not a quantity; the message tells what would be right."""


class Quantity(NamedTuple):
    """Represents a parsed quantity of `number * 10**exponent`.

    `text` is the original text where apimachinery keeps it because it is canonical, else empty. `big` tells that apimachinery holds the
    amount as a big decimal instead of an int64, which only matters to the pod-template hash.
    """

    number: int
    exponent: int
    format: str
    text: str = ""
    big: bool = False


def parse(value: QuantityValue) -> Quantity:
    """Parses a quantity as apimachinery does. Raises QuantityError."""
    text = value.strip() if isinstance(value, str) else json_number(value)
    if text == "0":
        return Quantity(0, 0, DECIMAL_SI, "0")
    negative, whole, fraction, suffix = _split(text)
    base, exponent, family = _interpret(suffix, text)
    digits = whole.lstrip("0") or "0"
    shifted = digits + fraction
    number = -int(shifted) if negative else int(shifted)
    if base == 10:
        scale = exponent - len(fraction)
        if len(shifted) <= 18 and scale >= NANO:
            kept = scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
            return Quantity(number, scale, family, text if kept else "")
        return _big(number, scale, family)
    fits = not fraction and 14 - len(digits) - exponent * 3 // 10 >= 0
    if fits:
        return Quantity(number << exponent, 0, family, text if int(shifted) % 8 else "")
    return _big(number << exponent, -len(fraction), family)


def explain(value: QuantityValue) -> str:
    """Returns what is wrong with a would-be quantity and what would be right, or `""`."""
    try:
        parse(value)
    except QuantityError as error:
        return str(error)
    return ""


def canonical(value: QuantityValue | Quantity) -> str:
    """Returns the text Kubernetes stores: `1000m` becomes `1`, `1.5Gi` `1536Mi`, the number 8 `8`. Raises QuantityError."""
    quantity = _quantity(value)
    return quantity.text or render(quantity.number, quantity.exponent, quantity.format)


def normalized(value: QuantityValue) -> str:
    """Returns one text for all spellings of an amount in the same family of suffixes: `1e3` for `1E3`. Raises QuantityError."""
    quantity = parse(value)
    return render(quantity.number, quantity.exponent, quantity.format)


def rounded_up(value: QuantityValue, exponent: int) -> int:
    """Returns the amount in units of `10**exponent`, rounded up, away from zero. Raises QuantityError."""
    quantity = parse(value)
    size = _scaled_up(abs(quantity.number), quantity.exponent - exponent)
    return -size if quantity.number < 0 else size


def is_zero(value: QuantityValue | Quantity) -> bool:
    """Reports whether the amount is zero. Raises QuantityError."""
    return _quantity(value).number == 0


def compare(left: QuantityValue | Quantity, right: QuantityValue | Quantity) -> int:
    """Returns -1, 0 or 1 as `left` is less than, equal to or more than `right`. Raises QuantityError."""
    a, b, _ = _aligned(_quantity(left), _quantity(right))
    return (a > b) - (a < b)


def is_multiple(value: QuantityValue, of: QuantityValue) -> bool:
    """Reports whether `value` is an integer multiple of `of`; false if that is not positive. Raises QuantityError."""
    a, b, _ = _aligned(parse(value), parse(of))
    return b > 0 and a % b == 0


def add(left: QuantityValue | Quantity, right: QuantityValue | Quantity) -> str:
    """Returns the canonical text of the sum, in the family of `left`'s suffix, or of `right`'s when `left` is zero."""
    first, second = _quantity(left), _quantity(right)
    a, b, exponent = _aligned(first, second)
    return render(a + b, exponent, first.format if a else second.format)


def render(number: int, exponent: int, family: str) -> str:
    """Returns `number * 10**exponent` with the largest suffix that leaves an integer. Amounts below 1024 are never binary.

    apimachinery loses the suffix of a multiple of 1000E, which turns `1000E` into `1`; that is not copied.
    """
    if number == 0:
        return "0"
    if family == BINARY_SI:
        amount = _integer(number, exponent)
        if amount is not None and abs(amount) >= 1024:
            return _render_binary(amount)
        family = DECIMAL_SI
    while number % 10 == 0:
        number //= 10
        exponent += 1
    most = 18 if family == DECIMAL_SI else MAX_EXPONENT
    surplus = exponent - most if exponent > most else exponent % 3
    number, exponent = number * 10**surplus, exponent - surplus
    if family == DECIMAL_SI:
        return f"{number}{_DECIMAL_OF[exponent]}"
    return f"{number}e{exponent}" if exponent else str(number)


def json_number(value: float) -> str:
    """Returns a JSON number as Kubernetes' API server writes it: `8`, `0.5`, `1e-7`, never `8.0`."""
    if isinstance(value, int):
        if value.bit_length() > 256:
            raise QuantityError("is an integer of more than 256 bits; write a number with a suffix, such as 2Gi")
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise QuantityError("is not a finite number; use a value such as 8, 500m or 2Gi")
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    mantissa, mark, power = repr(value).partition("e")
    if not mark:
        return mantissa
    if -7 < int(power) < 0:
        sign, digits = ("-" if value < 0 else ""), mantissa.lstrip("-").replace(".", "")
        return f"{sign}0.{'0' * (-int(power) - 1)}{digits}"
    return f"{mantissa}e{int(power):+d}"


def _quantity(value: QuantityValue | Quantity) -> Quantity:
    return value if isinstance(value, Quantity) else parse(value)


def _split(text: str) -> tuple[bool, str, str, str]:
    """Returns sign, digits before and after the point, and suffix."""
    body = text[1:] if text[:1] in ("+", "-") else text
    whole, fraction, rest = leading_number(body)
    if not whole and not fraction:
        raise QuantityError(f'{_quoted(text)} does not begin with a number; use a value such as "8", "500m" or "2Gi"')
    if len(text) > MAX_TEXT_LENGTH:
        raise QuantityError(f"{_quoted(text)} is longer than {MAX_TEXT_LENGTH} characters; use a suffix such as G or Gi")
    return text[:1] == "-", whole, fraction, rest


def _interpret(suffix: str, text: str) -> tuple[int, int, str]:
    """Returns base, exponent and family of a suffix."""
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], DECIMAL_SI
    if suffix in _BINARY:
        return 2, _BINARY[suffix], BINARY_SI
    if suffix[:1] in ("e", "E"):
        power = suffix[2:] if suffix[1:2] in ("+", "-") else suffix[1:]
        if power and not power.strip(DIGITS):
            exponent = int(suffix[1:])
            if abs(exponent) > MAX_EXPONENT:
                raise QuantityError(f"{_quoted(text)} has an exponent beyond {MAX_EXPONENT}")
            return 10, exponent, DECIMAL_EXPONENT
    raise QuantityError(_wrong_suffix(suffix, text))


def _wrong_suffix(suffix: str, text: str) -> str:
    letters = suffix.strip().lower().removesuffix("b").removesuffix("yte")
    near = [known for known in (*_DECIMAL, *_BINARY) if known and known.lower() in (letters, f"{letters}i")]
    if letters == "m":
        near = ["M", "Mi"]  # `MB` and `mb` mean mega, not the milli that `m` stands for
    number = text[: len(text) - len(suffix)]
    if near:
        choices = " or ".join(f'"{number}{known}"' for known in near)
        return f"{_quoted(text)} has the unknown suffix {_quoted(suffix)}; write {choices}"
    return f"{_quoted(text)} has the unknown suffix {_quoted(suffix)}; known are n u m k M G T P E, Ki Mi Gi Ti Pi Ei and e3"


def _quoted(text: str) -> str:
    return f'"{text[:40]}..."' if len(text) > 40 else f'"{text}"'


def _big(number: int, exponent: int, family: str) -> Quantity:
    """Returns the big-decimal form: rounded up to nano, binary amounts capped at an int64."""
    negative, number = number < 0, abs(number)
    if number:
        number, exponent = _scaled_up(number, exponent - NANO), NANO
    one = 10**-exponent if exponent < 0 else 1
    if family == BINARY_SI:
        if number > LARGEST_INT64 * one:
            number, exponent = LARGEST_INT64, 0
        elif 0 < number < one:
            family = DECIMAL_SI
    return Quantity(-number if negative else number, exponent, family, big=True)


def _scaled_up(number: int, shift: int) -> int:
    """Returns `number * 10**shift` of a positive number, rounded up."""
    return number * int(10**shift) if shift >= 0 else -(-number // 10**-shift)


def _aligned(left: Quantity, right: Quantity) -> tuple[int, int, int]:
    """Returns both numbers at the smaller of the two exponents, and that exponent."""
    exponent = min(left.exponent, right.exponent)
    return left.number * 10 ** (left.exponent - exponent), right.number * 10 ** (right.exponent - exponent), exponent


def _integer(number: int, exponent: int) -> int | None:
    """Returns the amount as an integer, None when it has a fraction."""
    if exponent >= 0:
        return number * int(10**exponent)
    amount, rest = divmod(number, 10**-exponent)
    return None if rest else amount


def _render_binary(amount: int) -> str:
    step = 0
    while amount % 1024 == 0 and step < len(_BINARY):
        amount //= 1024
        step += 1
    return f"{amount}{_BINARY_SUFFIXES[step]}"
