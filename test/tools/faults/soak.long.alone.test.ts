import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { type Case, testTogether } from '../../support/servers/together.js'
import { memcached } from './memcached-scenes.js'
import { redis } from './redis-scenes.js'
import { brokenPromises, SOAKED, soak } from './soak.js'
import { mariadb, postgres } from './sql-scenes.js'
import type { Scene } from './stage.js'

const SECONDS = 15

let bundled: Bundle

beforeAll(async () => {
  bundled = await bundle(SOAKED)
})

afterAll(() => bundled?.remove())

async function keepsPromises(scene: Scene): Promise<void> {
  const outcome = await soak(scene, { seconds: SECONDS, bundled })
  expect({ broken: brokenPromises(outcome), outcome }).toEqual({ broken: [], outcome })
  expect(outcome.bySource.local).toBeGreaterThan(0)
  expect(outcome.bySource.store).toBeGreaterThan(0)
}

const caseOf = (scene: Scene): Case => [
  `with a fault every few seconds the store charges what it admits, once, and memory stays flat: ${scene.store}`,
  () => keepsPromises(scene),
]

testTogether([redis, memcached, mariadb, postgres].map(caseOf), { atOnce: 2 })
