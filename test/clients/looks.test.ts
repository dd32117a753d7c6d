/** Every kind of page in Chromium: from every host, on a desktop and on a phone, light and dark. */
import { test } from 'vitest'
import { browserOf, DESKTOP, PHONE } from '../system/chromium.ts'
import { expectGoodPages, type Look } from '../system/looks.ts'
import { pagesOf, siteInChromium } from '../system/sample-site.ts'

const given = siteInChromium()

const SCREENS = [
  { name: 'desktop', viewport: DESKTOP },
  { name: 'phone', viewport: PHONE },
]

const LOOKS: Look[] = SCREENS.flatMap((screen) =>
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    (['server', 'subPath'] as const).map((host) => ({ ...screen, colorScheme, host })),
  ),
)

test.for(LOOKS)(
  'pages are accessible and cause no browser errors: $host, $name, $colorScheme',
  async (look, context) => {
    await expectGoodPages(browserOf(given.chromium, context), given.site, await pagesOf(given.site.publicDir), look)
  },
)
