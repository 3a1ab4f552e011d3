import type { Browser, BrowserContextOptions } from 'playwright-core'
import type { PageFigures } from '../../src/dashboard/figures/shown.js'
import { launchChromium } from '../support/servers/chromium.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { figuresOf } from '../tools/dashboard-scenes/scene.js'
import { SCENES } from '../tools/dashboard-scenes/scenes.js'
import { type ServedPage, servePage, type Visit } from '../tools/dashboard-scenes/serve.js'
import { isLive, type OpenDashboard, openIn } from './dashboard-page.js'

/** An open page of a scene. */
export interface OpenScene extends OpenDashboard {
  /** What the page asked the server to do. */
  readonly sent: ServedPage['sent']
}

/** What a test opens. */
interface Opening extends Visit {
  /** Behind the slash of the page, such as `#/limiter/api`. */
  readonly address?: string
  readonly context?: BrowserContextOptions
}

/** Starts a browser for the tests of a file. Returns what opens a scene, or given figures, until a test ends. */
export function useScenes(): (scene: string | PageFigures, opening?: Opening) => Promise<OpenScene> {
  let browser: Browser
  const closing: (() => Promise<void>)[] = []

  beforeAll(async () => {
    browser = await launchChromium()
  }, INSTALL_TIMEOUT_MS)
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  afterAll(() => browser?.close())

  return async (scene, { address = '', context = {}, ...visit } = {}) => {
    const figures = typeof scene === 'string' ? figuresOf(sceneOf(scene)) : scene
    const served = await servePage(figures, { operator: 'ines', ...visit })
    const opened = await openIn(browser, served.url + address, context)
    closing.push(opened.close, served.close)
    await isLive(opened.page)
    return { ...opened, sent: served.sent }
  }
}

function sceneOf(name: string): NonNullable<(typeof SCENES)[string]> {
  const make = SCENES[name]
  if (make === undefined) throw new Error(`There is no scene ${name}.`)
  return make
}
