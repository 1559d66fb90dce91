// SPDX-License-Identifier: Apache-2.0
// Starts Debian's Firefox. Playwright drives it over WebDriver BiDi (channel moz-firefox), so its pages
// have the same interface as those of Chromium.
import { existsSync } from 'node:fs';
import { firefox } from 'playwright-core';

const EXECUTABLE = '/usr/bin/firefox-esr';

// False where scripts/setup_browser could not install Firefox.
export const firefoxIsInstalled = () => existsSync(EXECUTABLE);

// The color scheme applies to the whole browser: Firefox 153 cannot emulate one per page, and
// Playwright ignores `colorScheme` of newPage without an error. In the preference, 0 is dark and 1 light.
export function openFirefox(scheme = 'light') {
  const override = scheme === 'dark' ? 0 : 1;
  return firefox.launch({
    channel: 'moz-firefox',
    executablePath: EXECUTABLE,
    firefoxUserPrefs: { 'layout.css.prefers-color-scheme.content-override': override },
  });
}
