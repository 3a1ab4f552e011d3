// Calls a route handler as `next start` does, which sets X-Forwarded-For if no proxy has.
import { resolve } from 'node:path'
import { serve } from '@hono/node-server'

const { GET } = await import(resolve(process.argv[2]))

function fetch(request, { incoming }) {
  const headers = new Headers(request.headers)
  if (!headers.has('x-forwarded-for')) headers.set('x-forwarded-for', incoming.socket.remoteAddress)
  return GET(new Request(request, { headers }))
}

serve({ fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' })
