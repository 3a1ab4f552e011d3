import {
  byHeader,
  byIp,
  fixedWindow,
  memoryStore,
  type RateLimitMiddleware,
  rateLimit,
  type Store,
  sharedSettings,
} from 'headgate'
import { dashboard } from 'headgate/dashboard'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { closeServers, closeWithServers, serve } from '../support/http.js'
import { launchChromium } from '../support/servers/chromium.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { ON_NODE_HTTP } from './dashboard-mounts.js'
import { isLive, openIn } from './dashboard-page.js'

/** A page that an operator has open. */
export interface OperatorsPage {
  readonly page: Page
  readonly troubles: readonly string[]
}

/** Limiters of an API and a search, with their dashboard, and what operators open. */
export interface Stage {
  /** Sends a request. Returns whether it was allowed. */
  readonly send: (limiter: 'api' | 'search', address: string, key?: string) => Promise<boolean>
  readonly settings: ReturnType<typeof sharedSettings>
  open(address: string, operator?: string, context?: BrowserContextOptions): Promise<OperatorsPage>
  readonly url: string
}

/** Starts a browser for the tests of a file. Returns what sets a stage on a store until a test ends. */
export function useStage(): (store?: Store) => Promise<Stage> {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  }, INSTALL_TIMEOUT_MS)
  afterEach(() => closeServers())
  afterAll(() => browser?.close())

  return async (store = memoryStore()) => {
    const settings = sharedSettings(store)
    const options = { store, settings } as const
    const middleware = {
      api: rateLimit({
        name: 'api',
        policy: fixedWindow({ limit: 3, window: '1h' }),
        key: byIp(),
        ...options,
      }),
      search: rateLimit({
        name: 'search',
        policy: fixedWindow({ limit: 5, window: '1h' }),
        key: byHeader('x-api-key'),
        ...options,
      }),
    }
    const limiters = Object.values(middleware).map(({ limiter }) => limiter)
    const mounted = dashboard({
      limiters,
      authorize: (req) => (req.headers['x-access'] === 'view' ? 'view' : true),
      operator: (req) => String(req.headers['x-operator']),
    })
    closeWithServers(async () => {
      mounted.close()
      await Promise.all(limiters.map((limiter) => limiter.close()))
    })
    const { port } = await serve(ON_NODE_HTTP.serve(mounted))
    const url = `http://127.0.0.1:${port}/limits/`
    return {
      settings,
      url,
      send: (limiter, address, key = '') => charge(middleware[limiter], address, key),
      async open(address, operator = 'ines', context = {}) {
        const access = operator === '' ? 'view' : 'all'
        const extraHTTPHeaders = { 'x-operator': operator, 'x-access': access }
        const opened = await openIn(browser, url + address, { ...context, extraHTTPHeaders })
        closeWithServers(opened.close)
        await isLive(opened.page)
        return opened
      },
    }
  }
}

async function charge({ limiter }: RateLimitMiddleware, address: string, key: string): Promise<boolean> {
  const headers = { 'x-api-key': key }
  const req = { method: 'GET', url: '/', headers, socket: { remoteAddress: address } }
  const { allowed } = await limiter.charge(req as never)
  return allowed
}

/** Has addresses of a network denied, as a scraper would be. */
export async function scrape({ send }: Stage): Promise<void> {
  for (let i = 0; i < 40; i++) await send('api', `203.0.113.${1 + (i % 8)}`)
}
