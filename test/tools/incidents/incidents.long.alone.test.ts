import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { Bundle } from '../../support/servers/bundle.js'
import { bundleWithPage } from '../../support/servers/bundle-with-page.js'
import { launchChromium } from '../../support/servers/chromium.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { INCIDENTS } from './incidents.js'
import { isGood, playIncident } from './run.js'

let browser: Browser
let server: Bundle

beforeAll(async () => {
  const starting = launchChromium()
  server = await bundleWithPage(join(__dirname, 'server-process.ts'))
  browser = await starting
}, INSTALL_TIMEOUT_MS)
afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

test.each(INCIDENTS.map((incident) => [incident.name, incident] as const))('%s', async (_, incident) => {
  const outcome = await playIncident(incident, { browser, program: server.path })
  expect([outcome, isGood(outcome)]).toEqual([expect.anything(), true])
})
