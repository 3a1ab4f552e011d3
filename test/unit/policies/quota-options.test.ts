import { readQuotaOptions } from '../../../src/policies/quota-options.js'

test.each([
  [{ per: 'day' }, { per: 'day' }],
  [{ per: 'week' }, { per: 'week', startsOn: 'monday' }],
  [
    { per: 'week', startsOn: 'sunday' },
    { per: 'week', startsOn: 'sunday' },
  ],
  [{ per: 'month' }, { per: 'month', startsOn: 1 }],
  [
    { per: 'month', startsOn: 31 },
    { per: 'month', startsOn: 31 },
  ],
  [{ per: 'year' }, { per: 'year', startsOn: '01-01' }],
  [
    { per: 'year', startsOn: '02-29' },
    { per: 'year', startsOn: '02-29' },
  ],
])('%j', (options, start) => {
  const settings = readQuotaOptions({ limit: 5, ...options })
  expect(settings).toMatchObject({ limit: 5, start })
  expect(settings.timeZone.name).toBe('UTC')
})

const STARTS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

test.each<[object, string]>([
  [{ per: 'month', limit: 0 }, 'limit must be a whole number of at least 1, got 0. Did you mean limit: 1?'],
  [
    { per: 'monthly' },
    "per must be 'day', 'week', 'month' or 'year', got \"monthly\". Did you mean per: 'month'?",
  ],
  [
    { per: 'hour' },
    "per must be 'day', 'week', 'month' or 'year', got \"hour\". Use fixedWindow for a window of another length.",
  ],
  [{}, "per must be 'day', 'week', 'month' or 'year', got undefined. Did you mean per: 'month'?"],
  [
    { per: 'day', startsOn: 5 },
    "startsOn must be left out with per: 'day', got 5. Days begin at midnight in timeZone.",
  ],
  [
    { per: 'day', startsOn: () => 5 },
    "startsOn must be left out with per: 'day', got function startsOn. Days begin at midnight in timeZone.",
  ],
  [
    { per: 'week', startsOn: 'Mondays' },
    `startsOn must be one of ${STARTS.map((day) => `'${day}'`).join(', ')}, got "Mondays". Did you mean startsOn: 'monday'?`,
  ],
  [
    { per: 'month', startsOn: 32 },
    'startsOn must be a whole number from 1 to 31, got 32. Did you mean startsOn: 31?',
  ],
  [
    { per: 'month', startsOn: '15' },
    'startsOn must be a whole number from 1 to 31, got "15". Did you mean startsOn: 15?',
  ],
  [
    { per: 'month', startsOn: null },
    'startsOn must be a whole number from 1 to 31, got null. Did you mean startsOn: 1?',
  ],
  ...['04-31', '02-30', '13-01', '00-10', '4-1', '2026-04-01', ''].map((startsOn): [object, string] => [
    { per: 'year', startsOn },
    `startsOn must be a day of the year as 'MM-DD', got "${startsOn}". Write startsOn: '04-01' for 1 April.`,
  ]),
  [
    { per: 'month', timeZone: 'Berlin' },
    "timeZone must be a time zone such as 'Europe/Berlin', or an offset such as '+02:00', got \"Berlin\". Did you mean timeZone: 'Europe/Berlin'?",
  ],
  [{ per: 'month', billingDay: 5 }, 'there is no option "billingDay". Write startsOn instead.'],
  [
    { window: '30d' },
    "there is no option \"window\". Write per: 'day', 'week', 'month' or 'year', or use fixedWindow for another length.",
  ],
])('%j is an error with its fix', (options, problem) => {
  expect(() => readQuotaOptions({ limit: 5, ...options })).toThrow(new TypeError(`quota: ${problem}`))
})

describe('a function that returns when periods begin', () => {
  /** Returns what is read from a subject. */
  async function startFor(per: string, startsOn: (subject: unknown) => unknown, subject: unknown) {
    const { start } = readQuotaOptions({ limit: 5, per, startsOn })
    if (typeof start !== 'function') throw new Error('the function was not kept')
    return start(subject)
  }

  test('its result is read as the option is', async () => {
    const read = (account: unknown) => (account as { day: number }).day
    await expect(startFor('month', read, { day: 15 })).resolves.toEqual({ per: 'month', startsOn: 15 })
    await expect(startFor('week', () => 'friday', {})).resolves.toEqual({ per: 'week', startsOn: 'friday' })
    const later = async () => '04-01'
    await expect(startFor('year', later, {})).resolves.toEqual({ per: 'year', startsOn: '04-01' })
  })

  test.each([undefined, 0, 32, '15'])('a wrong result, such as %p, is an error', async (day) => {
    await expect(startFor('month', () => day, {})).rejects.toThrow(
      'quota: startsOn must be a whole number from 1 to 31, got ',
    )
  })
})
