import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { overloadGuard } from 'headgate'
import Koa from 'koa'

/** Rejects, as a query whose guard has no place. */
async function deniedQuery(): Promise<string> {
  const guard = overloadGuard({ minLimit: 1, maxLimit: 1, maxWait: 0 })
  void guard.run(() => new Promise(() => {}))
  return guard.run(() => 'never')
}

async function fastifyListener(): Promise<RequestListener> {
  const app = fastify()
  app.get('/', deniedQuery)
  await app.ready()
  return (req, res) => app.routing(req, res)
}

const frameworks: [string, () => RequestListener | Promise<RequestListener>][] = [
  ['Express', () => express().set('env', 'test').get('/', deniedQuery)],
  ['Fastify', fastifyListener],
  [
    'Koa',
    () => {
      const app = new Koa()
      app.silent = true
      return app.use(deniedQuery).callback()
    },
  ],
]

test.each(frameworks)('%s makes a 503 with Retry-After of a denied call', async (_name, create) => {
  const server = createServer(await create()).listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const { status, headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    expect([status, headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d?$/)])
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
