"""A reverse proxy that serves an aggregator below a prefix, as a site's own would."""
import http.client
import http.server
import threading

PREFIX = "/tools/l4"
HOP = {"connection", "keep-alive", "transfer-encoding"}
PIECE = 1 << 16


class Proxy:
    """While it lasts, `base` leads to the aggregator at `port`; nothing else is served."""

    def __init__(self, port):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                if not self.path.startswith(PREFIX + "/"):
                    return self.send_error(404)
                link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                size = int(self.headers.get("Content-Length", 0))
                link.request(self.command, self.path.removeprefix(PREFIX), self.rfile.read(size),
                             {key: value for key, value in self.headers.items()
                              if key.lower() not in HOP})
                answer = link.getresponse()
                self.send_response_only(answer.status)
                for key, value in answer.getheaders():
                    if key.lower() not in HOP:
                        self.send_header(key, value)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                while piece := answer.read1(PIECE):
                    self.wfile.write(piece)
                    self.wfile.flush()
                return None

            do_GET = do_POST = do_DELETE = handle_one

            def log_message(self, *_):
                pass

            def handle(self):
                try:
                    super().handle()
                except OSError:  # one of both ends has gone
                    pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}{PREFIX}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
