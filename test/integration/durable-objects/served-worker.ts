/** A Worker that is served as users serve one, with an object that tests can let hang or set back. */

import { env } from 'cloudflare:workers'
import { durableObjectsStore, LimitsObject, type ObjectContext } from 'headgate/durable-objects'
import { fixedWindow, sharedSettings } from 'headgate/hono'
import { key, limitedPaths } from '../../runtimes/apps/limited-paths.js'

/** What the tests ask of all objects, and how often these were called. They share the isolate of the Worker. */
const asked = { isHanging: false, behindMs: 0, calls: 0 }

export class ServedObject extends LimitsObject {
  readonly #sql: ObjectContext['storage']['sql']

  constructor(context: ObjectContext) {
    super(context)
    this.#sql = context.storage.sql
  }

  protected override now(): number {
    return super.now() - asked.behindMs
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/rows') return Response.json(this.#rowsOf(`:${searchParams.get('key')}:`))
    asked.calls++
    if (asked.isHanging) await new Promise((resolve) => setTimeout(resolve, 60_000))
    return super.fetch(request)
  }

  #rowsOf(limit: string): number {
    const found = this.#sql.exec('SELECT * FROM headgate WHERE instr(states, ?) > 0', limit)
    return found.toArray().length
  }
}

const store = durableObjectsStore(env.LIMITS)
const settings = sharedSettings(store)
const { app, serve } = limitedPaths(store)

serve('failed', { count: 'failed' })
serve('settings', { settings })
serve('brief', { policy: fixedWindow({ limit: 20, window: '1s' }) })

app.get('/change', async (c) => {
  const raised = { limits: { settings: { limit: 25 } } }
  return c.json(
    await settings.change('settings', (now) => ({ ...now, ...raised }), { by: 'a test', reason: 'room' }),
  )
})
app.get('/hang', (c) => {
  asked.isHanging = c.req.query('on') === '1'
  return c.text('done')
})
app.get('/calls', (c) => c.json(asked.calls))
app.get('/rows', async (c) => {
  let rows = 0
  for (let i = 0; i < 16; i++) {
    const stub = env.LIMITS.get(env.LIMITS.idFromName(`limits-${i}`) as never, {})
    const found = await stub.fetch(`https://object/rows?key=${key(c)}`, { method: 'POST', body: '' })
    rows += Number(await found.text())
  }
  return c.json(rows)
})
app.get('/behind', (c) => {
  asked.behindMs = Number(c.req.query('ms'))
  return c.text('done')
})

export default app
