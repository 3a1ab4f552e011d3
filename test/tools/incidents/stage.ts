import { type ChildProcess, fork } from 'node:child_process'
import type { Frame } from '../../../src/dashboard/figures/shown.js'
import { firstMessage } from '../../support/first-message.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { trafficTo } from './traffic.js'

const SERVERS = 4
/** Longer than any incident takes. */
const LONGEST_MS = 120_000

/** A process that serves, and what stands between it and Redis. */
export interface StageServer {
  readonly child: ChildProcess
  readonly port: number
  readonly proxy: FaultyProxy
}

/** The servers, what stands behind them, and what sends to them. */
export interface Stage {
  readonly redis: RedisServer
  readonly servers: readonly StageServer[]
  readonly traffic: ReturnType<typeof trafficTo>
  /** Starts a process in the place of one that has ended. */
  restart(server: StageServer): Promise<void>
  /** Returns the first message of the stream of the first server, which has all figures. */
  frame(): Promise<Frame>
}

/** Starts four processes and a Redis server of their own. */
export async function setStage(program: string): Promise<{ readonly stage: Stage; end(): Promise<void> }> {
  const redis = await startRedis({ own: true })
  const children: ChildProcess[] = []

  async function start(proxy: FaultyProxy, port = 0): Promise<StageServer> {
    const child = fork(program, [`redis://${proxy.url}`, '0', String(port)])
    children.push(child)
    return { child, proxy, port: Number((await firstMessage(child)).port) }
  }

  const proxies = await Promise.all(
    Array.from({ length: SERVERS }, () => startProxy({ host: redis.host, port: redis.port })),
  )
  const servers = await Promise.all(proxies.map((proxy) => start(proxy)))
  const ports = servers.map(({ port }) => port)
  const traffic = trafficTo(ports, LONGEST_MS)
  const stage: Stage = {
    redis,
    servers,
    traffic,
    async restart({ proxy, port }) {
      servers[ports.indexOf(port)] = await start(proxy, port)
    },
    frame: () => firstFrame(urlOf(stage)),
  }
  async function end(): Promise<void> {
    traffic.close()
    for (const child of children) child.kill('SIGKILL')
    await redis.kill('SIGCONT')
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await redis.stop()
  }
  return { stage, end }
}

/** Returns the URL of the page. */
export const urlOf = ({ servers }: Stage) => `http://127.0.0.1:${servers[0]?.port}/limits/`

async function firstFrame(url: string): Promise<Frame> {
  const { body } = await fetch(`${url}stream`)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    text += part.value
    const [, data] = /^data: (\{"atMs".*)\n\n/m.exec(text) ?? []
    if (data === undefined) continue
    await reader?.cancel()
    return JSON.parse(data)
  }
  throw new Error('the stream ended before its first message')
}
