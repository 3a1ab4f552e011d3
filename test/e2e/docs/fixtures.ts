import express, { type Express, type RequestHandler } from 'express'

/** The apps that blocks were given, for the runner to serve. */
export const apps: Express[] = []

/**
 * What a block may ask for with `<!-- with: app, login -->`, made anew for each block:
 *
 * - `app`: an Express app in which everybody is signed in as Ada, on the free plan.
 * - `login`: a handler that answers 204 to the password `right`, and 401 to others.
 * - `Deno`: stands for the global of Deno. Its KV is empty, and it serves nothing: `test/integration/deno-kv` runs
 *   the same block in Deno.
 */
export function fixtures() {
  const app = express()
  app.use((req, _res, next) => {
    Object.assign(req, { user: { id: 'ada', plan: 'free' } })
    next()
  })
  apps.push(app)

  const login: RequestHandler = (req, res) => {
    res.sendStatus(req.body?.password === 'right' ? 204 : 401)
  }

  const kv = denoKv()
  const Deno = {
    openKv: async () => kv,
    serve(handler: (request: Request, info: { remoteAddr: { hostname: string } }) => unknown) {
      if (typeof handler !== 'function') throw new TypeError('Deno.serve needs a handler')
    },
  }

  return { app, login, Deno }
}

function denoKv() {
  const missing = { value: null, versionstamp: null }
  const atomic = {
    check: () => atomic,
    set: () => atomic,
    delete: () => atomic,
    commit: async () => ({ ok: true }),
  }
  return {
    get: async () => missing,
    getMany: async (keys: readonly unknown[]) => keys.map(() => missing),
    atomic: () => atomic,
  }
}
