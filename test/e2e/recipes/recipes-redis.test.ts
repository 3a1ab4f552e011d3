import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Job, Queue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { firstMessage } from '../../support/first-message.js'
import { bundleSources } from '../../support/servers/bundle.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { writeRecipe } from './recipe.js'

let redis: RedisServer
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  redis = await startRedis()
  process.env.REDIS_URL = redis.url
}, 600_000) // where Redis has to be installed first

afterAll(() => redis?.stop())

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

test('BullMQ: jobs over the limit of their tenant wait, and those of others do not', async () => {
  const { file, remove } = writeRecipe('Jobs of a queue')
  cleanups.push(remove)
  const recipe = (await import(file)) as { run(job: Job, token?: string): Promise<void>; redis: Redis }
  cleanups.push(() => recipe.redis.disconnect())
  const queue = new Queue('mail', { connection: { url: redis.url } })
  cleanups.push(() => queue.close())
  const done: { tenant: string; atMs: number }[] = []
  jest.spyOn(console, 'log').mockImplementation(() => {})
  const jobs = ['acme', 'acme', 'acme', 'acme', 'umbrella'].map((tenant) => ({
    name: 'send',
    data: { tenant },
  }))
  await queue.addBulk(jobs)
  const worker = new Worker('mail', recipe.run, { connection: { url: redis.url }, concurrency: 10 })
  cleanups.push(() => worker.close(true))
  worker.on('completed', ({ data }) => done.push({ tenant: data.tenant, atMs: Date.now() }))
  await until('all jobs are done', () => done.length === 5)
  const [first, second, third, fourth] = done
    .filter(({ tenant }) => tenant === 'acme')
    .map(({ atMs }) => atMs)
  expect((third as number) - (first as number)).toBeGreaterThan(300) // refilled by one in 500 ms
  expect((fourth as number) - (second as number)).toBeGreaterThan(600)
  expect(done.slice(0, 3).map(({ tenant }) => tenant)).toContain('umbrella')
})

test('node:cluster: four processes share one limit', async () => {
  const { file, remove } = writeRecipe('Several processes: node:cluster and PM2')
  cleanups.push(remove)
  const sources = [join(__dirname, 'cluster-primary.ts'), join(__dirname, 'cluster-worker.ts'), file]
  const programs = await Promise.all(sources.map(bundleSources))
  cleanups.push(...programs.map((each) => each.remove))
  const [program = '', ...args] = programs.map(({ path }) => path)
  const primary = fork(program, args, { env: process.env })
  cleanups.push(() => stop(primary))
  const port: number = await firstMessage(primary)
  const statuses: number[] = []
  // One after the other: a process that has just started answers many at once later than its store may take.
  for (let i = 0; i < 40; i++)
    statuses.push((await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).status)
  expect(statuses).toEqual([...Array(10).fill(200), ...Array(30).fill(429)])
})

async function stop(child: ChildProcess): Promise<void> {
  child.kill()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
