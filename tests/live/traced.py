"""What a browser's threads do for a while: Chromium's own trace, asked of the browser itself.

chromedriver's log of performance has one, too, but begins it only where a page is opened.
"""
import base64
import json
import os
import socket
import struct
import urllib.request

CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "v8"]


class Socket:
    """A WebSocket to the browser, as far as DevTools needs one."""

    def __init__(self, url, timeout_s=60.0):
        place, _, path = url.removeprefix("ws://").partition("/")
        host, _, port = place.partition(":")
        self.link = socket.create_connection((host, int(port)), timeout_s)
        key = base64.b64encode(os.urandom(16)).decode()
        self.link.sendall(f"GET /{path} HTTP/1.1\r\nHost: {place}\r\nUpgrade: websocket\r\n"
                          f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                          "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        self.file = self.link.makefile("rb")
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def send(self, text):
        body, mask = text.encode(), os.urandom(4)
        size = bytes([0x80 | len(body)]) if len(body) < 126 else b"\xfe" + struct.pack(
            ">H", len(body))
        self.link.sendall(b"\x81" + size + mask + bytes(
            byte ^ mask[i % 4] for i, byte in enumerate(body)))

    def receive(self):
        """The next message; its pieces are joined."""
        text = b""
        while True:
            first, size = self.file.read(2)
            if size == 126:
                size = struct.unpack(">H", self.file.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.file.read(8))[0]
            text += self.file.read(size)
            if first & 0x80:
                return json.loads(text)

    def close(self):
        self.file.close()
        self.link.close()


class Trace:
    """While it lasts, the browser is traced; then `events` are what its threads did."""

    def __init__(self, browser):
        self.address = browser.driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
        self.events, self.socket, self.number = [], None, 0

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        self.until(lambda message: message.get("id") == self.number)

    def until(self, holds):
        while True:
            message = self.socket.receive()
            if message.get("method") == "Tracing.dataCollected":
                self.events += message["params"]["value"]
            if holds(message):
                return

    def __enter__(self):
        with urllib.request.urlopen(f"http://{self.address}/json/version", timeout=30) as answer:
            self.socket = Socket(json.load(answer)["webSocketDebuggerUrl"])
        self.call("Tracing.start", traceConfig={"includedCategories": CATEGORIES,
                                                "excludedCategories": ["*"]})
        return self

    def __exit__(self, *_):
        self.call("Tracing.end")
        self.until(lambda message: message.get("method") == "Tracing.tracingComplete")
        self.socket.close()
