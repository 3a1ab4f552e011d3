import type { AddressInfo } from 'node:net'
import { slowDatabase } from '../../../examples/overload/database.js'
import { overloadApp } from '../../../examples/overload.js'
import { type Answer, ask, startExample } from './start-example.js'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A database whose queries for products end when `release` is called. */
function heldDatabase() {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const database = slowDatabase()
  const product = async (id: string) => {
    await released
    return database.product(id)
  }
  return { database: { ...database, product }, release: () => release() }
}

async function listen(database = slowDatabase()): Promise<string> {
  const server = overloadApp(database).listen(0, '127.0.0.1')
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

test('the example starts, and says where it is', async () => {
  const example = await startExample('examples/overload.ts')
  cleanups.push(() => example.stop())
  expect((await ask(`${example.url}/products/1`)).body).toBe('{"id":"1","name":"Product 1"}')
  expect(example.printed.err).toBe('')
})

test('usual traffic is served', async () => {
  const url = await listen()
  const login = (password: string) => ask(`${url}/login`, { form: `username=ada&password=${password}` })
  const answers = [
    await ask(`${url}/products/7`),
    await ask(`${url}/reports/2026-11`),
    await login('analytical engine'),
    await login('a guess'),
  ]
  expect(statuses(answers)).toEqual([200, 200, 204, 401])
  expect(JSON.parse((await ask(`${url}/status`)).body)).toMatchObject({
    server: { running: 0, waiting: 0 },
    database: { running: 0, waiting: 0 },
  })
})

test('while the database hangs, requests that find no place are denied, and the others are served later', async () => {
  const { database, release } = heldDatabase()
  const url = await listen(database)
  const answers: Answer[] = []
  const asked = Array.from({ length: 60 }, () =>
    ask(`${url}/products/1`).then((answer) => answers.push(answer)),
  )
  while (answers.length < 30) await new Promise((resolve) => setImmediate(resolve))
  expect(new Set(statuses(answers))).toEqual(new Set([503]))
  expect(answers.filter(({ headers }) => !/^[1-9]\d*$/.test(headers['retry-after'] ?? ''))).toEqual([])
  release()
  await Promise.all(asked)
  expect(new Set(statuses(answers))).toEqual(new Set([200, 503]))
  expect(JSON.parse((await ask(`${url}/status`)).body)).toMatchObject({
    server: { running: 0, waiting: 0 },
    database: { running: 0, waiting: 0 },
  })
})
