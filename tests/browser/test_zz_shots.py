from tests.browser.person import PASSWORD


def test_shots(site, visit, browser):
    site.scene("account_scenes.some_tokens")
    for dark in (False, True):
        for narrow in (False, True):
            v = visit(dark=dark, narrow=narrow)
            for path, name in (("/account/", "account"), ("/account/password/", "password")):
                page = v.open(path)
                page.wait_for_load_state("networkidle")
                page.screenshot(
                    path=f"/tmp/shots/{name}-{'dark' if dark else 'light'}-{'narrow' if narrow else 'wide'}.png",
                    full_page=True,
                )
    page = visit().open("/account/")
    page.get_by_label("What it is for").fill("nightly results")
    page.get_by_role("button", name="Make the token").click()
    page.screenshot(path="/tmp/shots/made.png", full_page=True)
    name = site.scene("account_scenes.administrator")["name"]
    page = browser.new_context().new_page()
    page.goto(f"{site.address}/sign-in/?next=/log/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/log/")
    page.screenshot(path="/tmp/shots/log-wide.png", full_page=True)
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.screenshot(path="/tmp/shots/log-narrow-dark.png", full_page=True)
    page2 = browser.new_context().new_page()
    for _ in range(6):
        page2.goto(f"{site.address}/sign-in/")
        page2.get_by_label("Name").fill("whoever")
        page2.get_by_label("Password").fill("wrong")
        page2.get_by_role("button", name="Sign in").click()
        page2.get_by_role("alert").wait_for()
    page2.screenshot(path="/tmp/shots/locked.png", full_page=True)
