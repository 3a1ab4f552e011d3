import type { Documents } from 'headgate/store'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { SharedWorld } from '../../unit/overload/shared-world.js'
import { STORES, type Started } from '../store-kinds.js'

describe.each(STORES)('on $name', (kind) => {
  let started: Started
  beforeAll(async () => {
    started = await kind.start()
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => started?.stop())

  test('processes divide the weight of a tenant by what it uses in each', async () => {
    const world = new SharedWorld()
    for (const phaseMs of [0, 250, 500]) {
      const { documents } = await started.makeStore()
      world.start(documents as Documents, ['one', 'all'], { phaseMs })
    }
    await world.run(12_000, (process, id) => (id === 'all' ? 2 : process === 0 ? 8 : 0))
    expect(world.sharers.map(({ shared }) => shared.error()?.message)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    const rounded = (id: string) => world.factors(id).map((factor) => Math.round(10 * factor) / 10)
    expect([rounded('one'), rounded('all')]).toEqual([
      [2.8, 0.1, 0.1],
      [1, 1, 1],
    ])
    await Promise.all(world.sharers.map(({ shared }) => shared.close()))
  })
})
