/** Every kind of page in Chromium: from every host, on a desktop and on a phone, light and dark. */
import { afterAll, beforeAll, test } from 'vitest'
import { browserOf, type Chromium, DESKTOP, PHONE, startChromium, stopChromium } from '../system/chromium.ts'
import { expectGoodPages, type Look } from '../system/looks.ts'
import { pagesOf, type SampleSite, serveSampleSite } from '../system/sample-site.ts'

let site: SampleSite
let chromium: Chromium

beforeAll(async () => {
  site = await serveSampleSite()
  chromium = await startChromium()
})

afterAll(async () => {
  await stopChromium(chromium)
  await site?.stop()
})

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
    await expectGoodPages(browserOf(chromium, context), site, await pagesOf(site.publicDir), look)
  },
)
