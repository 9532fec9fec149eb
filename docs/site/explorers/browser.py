"""A real browser without a driver: Chromium's own protocol, over a pipe.

    with Browser(program) as browser:
        page = Page(browser, width=420, height=900)
        page.open(path); page.click("button"); page.text("p")

Clicks, keys and touches are the browser's own input events, not calls from a script."""
import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """This machine's Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)


class Browser:
    def __init__(self, program, seconds=60):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.end = time.monotonic() + seconds
        ours, theirs = os.pipe(), os.pipe()  # commands to the browser, what it says
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (ours[0], theirs[1])]

        def at_3_and_4():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"],
            preexec_fn=at_3_and_4, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (ours[0], theirs[1], *high):
            os.close(fd)
        self.to, self.answers = ours[1], theirs[0]
        self.numbers, self.rest, self.events = itertools.count(1), b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
        self.folder.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], max(0, self.end - time.monotonic()))[0]:
                raise TimeoutError("the browser did not answer in time")
            more = os.read(self.answers, 1 << 16)
            if not more:
                raise ConnectionError("the browser has ended")
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def ask(self, method, session=None, **parameters):
        number = next(self.numbers)
        command = {"id": number, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)


class Page:
    def __init__(self, browser, width, height):
        self.browser, self.thrown = browser, []
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.ask(domain + ".enable")
        self.resize(width, height)
        self.colours("light")

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def resize(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=False)

    def colours(self, scheme):
        """light or dark"""
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        self.thrown = self.errors()
        self.browser.events.clear()
        self.ask("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.browser.events):
            self.browser.events.append(self.browser.message())

    def errors(self):
        """What scripts of this page threw and nobody caught."""
        thrown = [event["params"]["exceptionDetails"] for event in self.browser.events
                  if event.get("method") == "Runtime.exceptionThrown"]
        return self.thrown + [f"{error.get('url', '?')}:{error['lineNumber'] + 1}: "
                + error.get("exception", {}).get("description", error["text"]) for error in thrown]

    def value(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)}).textContent")

    def middle(self, selector):
        """Where it is after it was scrolled into sight, and nothing moves any more."""
        return self.value(f"""(async () => {{
            const element = document.querySelector({json.dumps(selector)});
            let before = null, still = 0;
            while (still < 3) {{
                element.scrollIntoView({{block: "center", inline: "nearest", behavior: "instant"}});
                const {{x, y, width, height}} = element.getBoundingClientRect();
                const now = [x + width / 2, y + height / 2];
                still = String(now) === String(before) ? still + 1 : 0;
                before = now;
                await new Promise((next) => requestAnimationFrame(next));
            }}
            return before;
        }})()""")

    def mouse(self, kind, x, y, buttons=0):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, buttons=buttons,
                 button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def hover(self, selector):
        self.mouse("mouseMoved", *self.middle(selector))

    def click(self, selector):
        x, y = self.middle(selector)
        for kind, buttons in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)):
            self.mouse(kind, x, y, buttons)

    def drag(self, selector, by):
        x, y = self.middle(selector)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1)
        for part in range(1, 6):
            self.mouse("mouseMoved", x + by * part / 5, y, 1)
        self.mouse("mouseReleased", x + by, y)

    def touch(self, selector, by=0):
        """A tap, or a swipe to the side."""
        x, y = self.middle(selector)
        self.ask("Emulation.setTouchEmulationEnabled", enabled=True)
        for kind, parts in (("touchStart", [0]), ("touchMove", range(1, 6) if by else []), ("touchEnd", [None])):
            for part in parts:
                points = [] if part is None else [{"x": x + by * part / 5, "y": y}]
                self.ask("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.ask("Emulation.setTouchEmulationEnabled", enabled=False)

    def key(self, name):
        code = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "PageDown": 34,
                "PageUp": 33, "Enter": 13, "Tab": 9}[name]
        text = {"Enter": {"text": "\r"}}.get(name, {})
        for kind, more in (("keyDown", text), ("keyUp", {})):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **more)

    def type(self, selector, text):
        """What is there is replaced by the text."""
        self.click(selector)
        self.value(f"document.querySelector({json.dumps(selector)}).select()")
        self.ask("Input.insertText", text=text)

    def choose(self, selector, value):
        """An option of a list, which the browser itself draws outside of the page."""
        self.value(f"""(() => {{
            const list = document.querySelector({json.dumps(selector)});
            list.value = {json.dumps(value)};
            list.dispatchEvent(new Event("change", {{bubbles: true}}));
        }})()""")

    def screenshot(self, selector, path):
        """Of a window that has room for all of it."""
        self.middle(selector)
        box = self.value(f"""(() => {{
            const {{x, y, width, height}} = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return {{x: x + scrollX, y: y + scrollY, width, height, scale: 1}};
        }})()""")
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", clip=box)["data"]))
