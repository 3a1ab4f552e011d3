import { type Express, Router } from 'express'
import { adjustments, type Store } from 'headgate'
import { servePolicies } from './policies.js'

/** Adds a route for each policy. The page sends the same traffic to all of them. */
export function serveTraffic(app: Express, store: Store): void {
  const routes = Router()
  const limits = Object.entries(servePolicies(routes, store))
  app.use('/traffic', routes)

  // A peek takes nothing: the page reads between its requests what is left of each quota.
  app.get('/traffic', async (req, res) => {
    const quotas = await Promise.all(
      limits.map(async ([name, { limiter }]) => [name, await limiter.peek(req)]),
    )
    res.json({ nowMs: Date.now(), quotas: Object.fromEntries(quotas) })
  })

  app.delete('/traffic', async (req, res) => {
    await Promise.all(limits.map(([, { limiter }]) => adjustments(limiter).forget(req)))
    res.status(204).end()
  })
}
