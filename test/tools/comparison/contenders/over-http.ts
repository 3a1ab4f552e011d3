import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Redis } from 'ioredis'
import { closeLater } from '../contender.js'

type Command = readonly [name: string, ...args: string[]]

/**
 * Serves a Redis over HTTP on loopback, as far as @upstash/redis calls it. Returns the URL. Scripts run without
 * their first line, whose flag only Upstash's servers know.
 */
export async function overHttp(redis: Redis): Promise<string> {
  const run = async ([name, ...args]: Command) => {
    try {
      return {
        result: await redis.call(name, ...args.map((arg) => String(arg).replace(/^#!lua .*\n/, '\n'))),
      }
    } catch (error) {
      return { error: (error as Error).message }
    }
  }
  const server = createServer(async (req, res) => {
    const body = JSON.parse(await text(req))
    const reply = req.url === '/pipeline' ? await Promise.all(body.map(run)) : await run(body)
    res.writeHead('error' in reply ? 400 : 200, { 'content-type': 'application/json' })
    res.end(JSON.stringify(reply))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closeLater(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
