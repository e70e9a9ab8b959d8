#!/usr/bin/env python3
"""Holds the verification of tokens against PyJWT and joserfc, on mutated tokens of every algorithm.

    Tests/Verify/jose.py .build-fuzz/release/fuzz [--count 100000] [--seed 1] [-v]

The program prints the gateway's verdicts (`fuzz verdicts token`; script/fuzz builds it). For each token, the
gateway and the other library must both accept it or both reject it. Every disagreement must belong to a class
below, which the token shows and not the verdict; anything else is printed, and the exit status is 1. Needs PyJWT,
joserfc and cryptography.
"""
from __future__ import annotations

import argparse
import base64
import datetime
import json
import random
import re
import subprocess
import sys
import warnings
from collections import Counter

import jwt
import jwt.api_jwt
from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from joserfc import jwt as rfc
from joserfc.jwk import import_key

warnings.simplefilter("ignore")


class FixedClock(datetime.datetime):
    """The clock of PyJWT, which is not a parameter."""

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(NOW, tz)


jwt.api_jwt.datetime = FixedClock
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "HS256", "HS384", "HS512"]
HASHES = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}
CURVES = {"ES256": (ec.SECP256R1, 32), "ES384": (ec.SECP384R1, 48), "ES512": (ec.SECP521R1, 66)}
NOW = 1_700_000_000
ISSUER, AUDIENCE = "https://id.test/", "shop"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def unb64(text):
    """Strict; None for what is not canonical."""
    if not re.fullmatch(rb"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    return data if b64(data) == text else None


class Signer:
    """One key for an algorithm, in the form of each library."""

    def __init__(self, name, rsa_key):
        self.name, self.kid = name, "key-" + name
        if name[:2] == "HS":
            self.secret = bytes(range(64))
            self.public = {"kty": "oct", "k": b64(self.secret).decode(), "kid": self.kid}
            self.ours = b64(self.secret).decode()
            return
        if name[:2] in ("RS", "PS"):
            self.key = rsa_key
        elif name == "EdDSA":
            self.key = ed25519.Ed25519PrivateKey.generate()
        else:
            self.key = ec.generate_private_key(CURVES[name][0]())
        pem = self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.pem = pem
        kind = {"R": "RSA", "P": "RSA", "E": "EC"}[name[0]] if name != "EdDSA" else "OKP"
        self.public = {**import_key(pem, kind).as_dict(private=False), "kid": self.kid}
        self.ours = json.dumps({"keys": [self.public]})

    def sign(self, data, as_der=False):
        name = self.name
        if name == "EdDSA":
            return self.key.sign(data)
        digest = HASHES[name[2:]]()
        if name[:2] == "HS":
            code = hmac.HMAC(self.secret, digest)
            code.update(data)
            return code.finalize()
        if name[:2] == "RS":
            return self.key.sign(data, padding.PKCS1v15(), digest)
        if name[:2] == "PS":
            return self.key.sign(data, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
        der = self.key.sign(data, ec.ECDSA(digest))
        if as_der:
            return der
        r, s = utils.decode_dss_signature(der)
        size = CURVES[name][1]
        return r.to_bytes(size, "big") + s.to_bytes(size, "big")


# ---------------------------------------------------------------------------------------- tokens
def claims(rnd):
    return {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": 4102444800, "n": rnd.randrange(1000)}


TIMES = ["1", "4102444800", "4102444800.5", "4.1e9", "-1", "0", "1e400", '"4102444800"', "true", "null", "[]", "1e18",
         "99999999999999999999", "1699999999", "1700000001", "NaN", "Infinity", '"x"']
OTHERS = ["null", "1", '""', '"shop"', '["shop"]', '["a","shop"]', "[]", '["shop",1]', '{"shop":1}', '"https://id.test"',
          '"https://id.test/"', '["https://id.test/"]', '"https:\\/\\/id.test\\/"', "true", '"Shop"', '"shop "', '"\\u0073hop"']
HEADERS = [("typ", ['"JWT"', '"jwt"', '"at+jwt"', '"application/at+jwt"', '"JOSE"', '"dpop+jwt"', "1", "null", '""']),
           ("kid", ['"other"', "1", "null", '""', '"../x"']), ("crit", ["[]", '["b64"]', '["exp"]', "null", "1"]),
           ("b64", ["false", "true"]), ("jku", ['"https://evil/"']), ("x", ["1", '{"a":{"b":[1,2]}}', '"\\ud800"', '"\\u0000"']),
           ("zip", ['"DEF"']), ("cty", ['"JWT"']), ("alg", ['"none"', '"None"', '"HS256"', '"RS256"', '"ES256"', '"EdDSA"', "1", "null", '""', '"rs256"'])]


def text_of(members):
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in members) + "}"


def made(rnd, signer):
    """A token that is signed, whatever its header and claims are."""
    header = [("alg", json.dumps(signer.name)), ("kid", json.dumps(signer.kid))]
    payload = [(name, json.dumps(value)) for name, value in claims(rnd).items()]
    for _ in range(rnd.choice([0, 1, 1, 2])):
        if rnd.random() < 0.3:
            name, values = rnd.choice(HEADERS)
            header = [pair for pair in header if pair[0] != name or rnd.random() < 0.1] + [(name, rnd.choice(values))]
        else:
            name = rnd.choice(["exp", "exp", "nbf", "iss", "aud", "iat", "sub", "jti", "x"])
            values = TIMES if name in ("exp", "nbf", "iat") else OTHERS
            payload = [pair for pair in payload if pair[0] != name or rnd.random() < 0.1]
            if rnd.random() < 0.85:
                payload.append((name, rnd.choice(values)))
    head, body = text_of(header).encode(), text_of(payload).encode()
    what = rnd.random()
    if what < 0.04:
        body = rnd.choice([b"", b"[]", b"null", b'"a"', body + b" x", b" " + body, b"\xef\xbb\xbf" + body, body[:-1],
                           body.decode().encode("utf-16"), body.replace(b"ann", b"\xff"), body[:-1] + b",}",
                           body[:-1] + b',"d":' + b"[" * 20 + b"]" * 20 + b"}", body[:-1] + b',"z":"' + b"z" * rnd.choice([5000, 8000]) + b'"}'])
    elif what < 0.06:
        head = rnd.choice([b"", b"[]", head + b"x", b" " + head, head.decode().encode("utf-16"), head[:-1] + b',"s":"\xff"}'])
    signed = b64(head) + b"." + b64(body)
    return signed + b"." + b64(signer.sign(signed, as_der=rnd.random() < 0.02))


def mutated(rnd, token, others):
    """Changes of the text, after which the signature is wrong, or in another form."""
    parts = token.split(b".")
    what = rnd.randrange(14)
    if what == 0:
        at = rnd.randrange(len(token))
        return token[:at] + rnd.choice(b"AB-_=+/. \n\xc3").to_bytes(1, "big") + token[at + 1:]
    if what == 1:
        at = rnd.randrange(len(token) + 1)
        return token[:at] + rnd.choice([b"=", b"A", b".", b"\n", b" ", b"\xff"]) + token[at:]
    if what == 2:
        at = rnd.randrange(len(token))
        return token[:at] + token[at + rnd.randint(1, 5):]
    if what == 3:
        return b".".join(parts[:2]) + b"."
    if what == 4:
        return b".".join(parts[:rnd.randint(1, 2)])
    if what == 5:
        return token + rnd.choice([b"=", b"==", b"AA", b".", b".A", b"\n", b"..A"])
    if what == 6:
        return b".".join(parts[:2]) + b"." + rnd.choice(others).split(b".")[-1]
    if what == 7:
        return rnd.choice(others).split(b".")[0] + b"." + parts[1] + b"." + parts[-1]
    if what == 8:  # Spare bits.
        index = rnd.randrange(3)
        if index < len(parts) and parts[index]:
            alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            last = alphabet.find(parts[index][-1:])
            parts[index] = parts[index][:-1] + bytes([alphabet[last ^ 1]])
        return b".".join(parts)
    if what == 9:
        return b".".join(parts[:2]) + b"." + b64(b"\0" * rnd.choice([0, 32, 64, 96, 132, 256]))
    if what == 10:
        return token.replace(b"-", b"+").replace(b"_", b"/")
    if what == 11:
        signature = unb64(parts[-1]) or b""
        half = len(signature) // 2
        return b".".join(parts[:-1]) + b"." + b64(rnd.choice([b"\0" + signature, signature + b"\0", signature[half:], signature[::-1],
                                                              b"\0" * half + signature[half:], signature[:half] + b"\0" * half]))
    if what == 12:
        header = json.dumps({"alg": rnd.choice(ALGORITHMS + ["none", "NONE", "nOnE"])}).encode()
        return b64(header) + b"." + parts[1] + b"." + rnd.choice([b"", parts[-1]])
    return rnd.choice(others)


def confused(rnd, signer):
    """HMAC with the text of the public key as the secret."""
    header = {"alg": rnd.choice(["HS256", "HS384", "HS512"]), "kid": signer.kid}
    signed = b64(json.dumps(header).encode()) + b"." + b64(json.dumps(claims(rnd)).encode())
    secret = rnd.choice([signer.pem, signer.pem.strip(), json.dumps(signer.public).encode()])
    code = hmac.HMAC(secret, HASHES[header["alg"][2:]]())
    code.update(signed)
    return signed + b"." + b64(code.finalize())


# ---------------------------------------------------------------------------------------- verdicts
def ours(program, cases):
    text = "".join(f"{signer.ours}\n{' '.join(allowed)}\n".encode().hex() + token.hex() + "\n" for signer, allowed, token in cases)
    out = subprocess.run([program, "verdicts", "token"], input=text, capture_output=True, text=True, check=True).stdout
    lines = out.splitlines()
    assert len(lines) == len(cases), "the gateway's verdicts end early"
    return lines


def by_pyjwt(signer, allowed, token, key):
    try:
        jwt.decode(token, key, algorithms=allowed, audience=AUDIENCE, issuer=ISSUER, options={"require": ["exp", "iss", "aud"]})
        return None
    except Exception as error:  # Any exception rejects the token.
        return f"{type(error).__name__}: {error}"


REGISTRY = rfc.JWTClaimsRegistry(
    now=lambda: NOW, leeway=0, iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": AUDIENCE}, exp={"essential": True})


def by_joserfc(signer, allowed, token, key):
    try:
        REGISTRY.validate(rfc.decode(token, key, algorithms=allowed).claims)
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"


# ---------------------------------------------------------------------------------------- classes
def read(data):
    """Strict JSON as the gateway reads it: the value, and the marks of what others read differently."""
    marks = set()

    def pairs(items):
        if len({name for name, _ in items}) < len(items):
            marks.add("a name twice")
        return dict(items)

    def constant(_):
        marks.add("NaN or Infinity")

    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None, {"not UTF-8"}
    if text.startswith("\ufeff") or "\0" in text:
        marks.add("not UTF-8")
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError):
        return None, marks | {"not JSON"}
    if re.search(r"\\u[dD][89a-fA-F]", text):
        marks.add("surrogate")

    def depth(node):
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else None
        return 0 if inner is None else 1 + max((depth(each) for each in inner), default=0)

    if depth(value) > 16:
        marks.add("deeper than 16")
    return value, marks


def features(signer, token):
    """What of a token the libraries may see differently."""
    marks = set()
    if len(token) > 8192:
        marks.add("longer than 8 KiB")
    parts = token.split(b".")
    if any(unb64(part) is None for part in parts):
        marks.add("base64url is not canonical")
    if len(parts) != 3:
        return marks | {"not three parts"}
    loose = [unb64(part) for part in parts]
    for index, name in ((0, "header"), (1, "payload")):
        if loose[index] is None:
            continue
        value, found = read(loose[index])
        marks |= {f"{name}: {mark}" for mark in found}
        if not isinstance(value, dict):
            continue
        if index == 0:
            typ = value.get("typ", "JWT")
            short = typ.lower().removeprefix("application/") if isinstance(typ, str) else None
            if short not in ("jwt", "at+jwt"):
                marks.add("typ")
            if "crit" in value:
                marks.add("crit")
            if "b64" in value:
                marks.add("b64")
            if "kid" in value and value["kid"] != signer.kid:
                marks.add("kid")
            if "zip" in value or "cty" in value or "jku" in value or "x" in value:
                marks.add("other parameter")
        else:
            for name in ("exp", "nbf", "iat"):
                time = value.get(name)
                if name in value and (isinstance(time, bool) or not isinstance(time, (int, float))):
                    marks.add(f"{name} is no number")
                elif isinstance(time, float):
                    marks.add(f"{name} has a fraction or an exponent")
            if "iat" in value:
                marks.add("iat")
            if not isinstance(value.get("sub", ""), str) or not isinstance(value.get("jti", ""), str):
                marks.add("sub or jti is no text")
            audience = value.get("aud")
            if isinstance(audience, list) and not all(isinstance(each, str) for each in audience):
                marks.add("aud has another type inside")
            if isinstance(value.get("iss"), list) or value.get("iss") is None:
                marks.add("iss is no text")
    return marks


# The classes of disagreement: a feature of the token, the reason that the stricter side gives, and an explanation.
GATEWAY_STRICTER = [
    ("base64url is not canonical", r"base64url", "the library ignores spare bits, padding or characters outside of the alphabet"),
    ("longer than 8 KiB", r"longer than", "the gateway has a limit"),
    ("header: a name twice", r"header contains a name twice", "the library uses the last one"),
    ("payload: a name twice", r"payload contains a name twice", "the library uses the last one"),
    ("header: not UTF-8", r"header is not a valid JSON", "the library detects UTF-16 and byte order marks"),
    ("payload: not UTF-8", r"payload is not a valid JSON", "the library detects UTF-16 and byte order marks"),
    ("header: surrogate", r"header is not a valid JSON", "the library accepts half of a pair"),
    ("payload: surrogate", r"payload is not a valid JSON", "the library accepts half of a pair"),
    ("header: deeper than 16", r"header is not a valid JSON", "the gateway has a limit"),
    ("payload: deeper than 16", r"payload is not a valid JSON", "the gateway has a limit"),
    ("payload: NaN or Infinity", r"payload is not a valid JSON", "it is not JSON, and the library accepts it"),
    ("typ", r"typ ", "the gateway accepts JWT and at+jwt only, and texts only"),
    ("typ", r"'typ'", "the gateway accepts JWT and at+jwt only, and texts only"),
    ("crit", r"crit", "the gateway supports no extension"),
    ("kid", r"kid", "the library gets its key from the caller here, and does not look at kid"),
    ("exp is no number", r"'exp' has the wrong type", "the library converts texts and booleans"),
    ("nbf is no number", r"'nbf' has the wrong type", "the library converts texts and booleans"),
    ("aud has another type inside", r"'aud' has the wrong type", "the library compares the other elements"),
    ("exp has a fraction or an exponent", r"exp ", "the library rounds in another way"),
    ("nbf has a fraction or an exponent", r"nbf ", "the library rounds in another way"),
]
LIBRARY_STRICTER = [
    ("iat", r"iat|issued", "the library checks iat, which RFC 7519 does not require"),
    ("sub or jti is no text", r"[Ss]ub|JTI|jti", "the library checks the type of sub and jti, which the gateway does not use"),
    ("b64", r"b64", "the library reads b64 without crit, which RFC 7797 requires"),
    ("other parameter", r"UnsupportedHeader", "the library rejects unknown parameters, which RFC 7515 ignores"),
    ("exp has a fraction or an exponent", r"exp", "the library requires an integer, or one that fits"),
    ("nbf has a fraction or an exponent", r"nbf", "the library requires an integer, or one that fits"),
    ("typ", r"typ", "the library checks the type of typ"),
]


def explanation(is_library, marks, reason):
    for mark, pattern, text in LIBRARY_STRICTER if is_library else GATEWAY_STRICTER:
        if mark in marks and re.search(pattern, reason):
            return f"{mark}: {text}"
    return None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--count", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("-v", action="store_true")
    options = options.parse_args()
    rnd = random.Random(options.seed)
    rsa_key = rsa.generate_private_key(65537, 2048)
    signers = [Signer(name, rsa_key) for name in ALGORITHMS]
    py_keys = {s.name: s.secret if s.name[:2] == "HS" else jwt.PyJWK.from_dict(s.public, algorithm=s.name).key for s in signers}
    rfc_keys = {s.name: import_key(s.public, s.public["kty"]) for s in signers}

    cases, pools = [], {}
    for signer in signers:
        pools[signer.name] = [made(rnd, signer) for _ in range(options.count // len(signers) // 4 + 1)]
    everything = [token for pool in pools.values() for token in pool]
    while len(cases) < options.count:
        signer = rnd.choice(signers)
        allowed = ALGORITHMS if rnd.random() < 0.1 else [signer.name]
        # An HMAC secret must never be used with a public key and the other way round.
        if len(allowed) > 1:
            allowed = [a for a in allowed if (a[:2] == "HS") == (signer.name[:2] == "HS")]
        choice = rnd.random()
        if choice < 0.45:
            token = rnd.choice(pools[signer.name])
        elif choice < 0.97 or signer.name[:2] == "HS":
            token = mutated(rnd, rnd.choice(pools[signer.name]), everything)
        else:
            token = confused(rnd, signer)
            allowed = allowed + ["HS256", "HS384", "HS512"]
        cases.append((signer, allowed, token))

    verdicts = ours(options.program, cases)
    classes, unexplained, accepted = Counter(), [], 0
    for (signer, allowed, token), verdict in zip(cases, verdicts):
        ok = verdict.startswith("ok ")
        accepted += ok
        marks = None
        for name, library, keys in (("PyJWT", by_pyjwt, py_keys), ("joserfc", by_joserfc, rfc_keys)):
            problem = library(signer, allowed, token, keys[signer.name])
            if ok == (problem is None):
                continue
            marks = features(signer, token) if marks is None else marks
            why = explanation(ok, marks, problem if ok else verdict)
            if why is None:
                unexplained.append((name, signer.name, allowed, token, verdict[:60], problem, sorted(marks)))
            else:
                classes[f"{name}, {'library' if ok else 'gateway'} stricter: {why}"] += 1
    print(f"{len(cases)} tokens, {accepted} accepted, {len(set(t for _, _, t in cases))} different")
    for name, count in sorted(classes.items()):
        print(f"  {count:6} {name}")
    for case in unexplained[:30 if options.v else 8]:
        print("unexplained:", *case, sep="\n    ")
    print(f"{len(unexplained)} disagreements are not explained")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
