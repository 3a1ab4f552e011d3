import type { Express } from 'express'
import { rateLimit, type Store } from 'headgate'
import { breakerLog } from './breaker-log.js'
import { isStoreMode, switchableStore } from './switchable-store.js'

/** Adds three routes that differ in what they do while their store fails, and the switch of that store. */
export function serveOutage(app: Express, demoStore: Store): void {
  const store = switchableStore(demoStore)

  // #region on-store-error
  const api = { limit: 4, window: '1s', store }
  const limits = {
    // While the store fails, every request passes,
    allow: rateLimit({ ...api, name: 'allow', onStoreError: 'allow' }),
    // or gets a 503 with Retry-After,
    deny: rateLimit({ ...api, name: 'deny', onStoreError: 'deny' }),
    // or is counted in the memory of this process.
    local: rateLimit({ ...api, name: 'local', onStoreError: 'local' }),
  }
  for (const [name, limit] of Object.entries(limits)) {
    app.get(`/outage/${name}`, limit, (_req, res) => {
      res.json({ time: new Date() })
    })
  }
  // #endregion

  const breakers = Object.entries(limits).map(([name, { limiter }]) => ({
    name,
    breaker: breakerLog(limiter),
  }))

  app.get('/outage', (_req, res) => {
    const states = breakers.map(({ name, breaker }) => [name, breaker.changes()])
    res.json({ mode: store.mode, breakers: Object.fromEntries(states) })
  })

  app.put('/outage/:mode', (req, res) => {
    const { mode } = req.params
    if (isStoreMode(mode)) store.switchTo(mode)
    res.status(isStoreMode(mode) ? 204 : 404).end()
  })
}
