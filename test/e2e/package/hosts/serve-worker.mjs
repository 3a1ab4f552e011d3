// Calls a Worker as Cloudflare does, which sets the address of the client.
import { resolve } from 'node:path'
import { serve } from '@hono/node-server'

const { default: worker } = await import(resolve(process.argv[2]))

function fetch(request, { incoming }) {
  const headers = new Headers(request.headers)
  headers.set('cf-connecting-ip', incoming.socket.remoteAddress)
  return worker.fetch(new Request(request, { headers }), {}, { waitUntil() {} })
}

serve({ fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' })
