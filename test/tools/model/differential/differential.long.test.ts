import { INSTALL_TIMEOUT_MS } from '../../../support/servers/install.js'
import { subjectsNamed, tallyOf } from './main.js'
import { describe as textOf } from './run-traces.js'
import { hasSqlite } from './sqlite-store.js'

const subjects = subjectsNamed([]).filter(({ name }) => name !== 'SQLite' || hasSqlite())

test.each(subjects.map((subject) => [subject.name, subject] as const))(
  'on random traces, every figure of %s equals the model',
  async (_name, subject) => {
    const amount = { stores: [], seed: Date.now() % 1e9, traces: 3000, seconds: 60 }
    const { steps, differences } = await tallyOf(subject, amount)
    expect(differences.map(textOf)).toEqual([])
    expect(steps).toBeGreaterThan(5000)
  },
  INSTALL_TIMEOUT_MS + 120_000,
)
