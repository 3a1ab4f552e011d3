import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Bundle, bundleSources } from '../../support/servers/bundle.js'
import { play } from './run.js'
import { scenarioNamed } from './scenarios.js'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function bundled(name: string): Promise<URL> {
  const { path, remove }: Bundle = await bundleSources(join(__dirname, name))
  cleanups.push(remove)
  return pathToFileURL(path)
}

test('each request to an overloaded server is served, denied or lost', async () => {
  const [server, load] = await Promise.all([bundled('server-child.ts'), bundled('load-child.ts')])
  const scenario = { ...scenarioNamed('backend, 2 times'), warmUp: { times: 0.5, seconds: 0.1 } }
  const { sent, good, denied, lost } = await play(scenario, 'headgate', { server, load, packages: '' }, 1, 1)
  expect([good + denied + lost, sent > 1000]).toEqual([sent, true])
})
