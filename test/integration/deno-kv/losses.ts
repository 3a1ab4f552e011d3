import { endAt } from '../../support/charging-processes.js'
import { firstMessage } from '../../support/first-message.js'
import { lossesOf, type RecordLosses } from '../../support/tally.js'
import { type DenoPrograms, denoPrograms } from './deno.js'

/** Defines the tests of processes that charge a key in one file, each until so many charges were allowed. */
export function describeDenoLosses(counts: readonly number[], record?: RecordLosses): void {
  let programs: DenoPrograms
  beforeEach(async () => {
    programs = await denoPrograms(['charging-process', 'count'])
  })
  afterEach(() => programs?.remove())

  test.each([
    ['processes killed', 'kill', 'whole'],
    ['replies lost', 'stop', 'lossy'],
  ] as const)('no charge that was allowed is lost, and none is doubled: %s', async (failure, how, client) => {
    const tally = await endAt(how, () => programs.start('charging-process', client), counts)
    const counted = await firstMessage(programs.start('count'))
    const losses = lossesOf(tally, counted)
    record?.(failure, losses)
    expect(losses).toMatchObject({ lost: 0, doubled: 0 })
    expect(losses.unknown).toBeGreaterThan(0)
  })
}
