const LEVELS = ['critical', 'warning', 'calm']
const KINDS = [
  'store-outage',
  'process-gone',
  'overload',
  'account-attacked',
  'network-denied',
  'few-denied',
  'many-denied',
  'calm',
]

/**
 * Returns rows in the order of urgency: by level, kind, and magnitude of denials, then by name. Rates that differ by
 * less than four times count as the same, so that rows do not change places with every second.
 */
export function worstFirst(rows) {
  return rows
    .map((row) => ({ row, keys: keysOf(row) }))
    .sort(({ keys: a, row: left }, { keys: b, row: right }) => {
      const at = a.findIndex((key, i) => key !== b[i])
      return at < 0 ? compareNames(left.name, right.name) : a[at] - b[at]
    })
    .map(({ row }) => row)
}

function keysOf({ finding: { level, kind }, deniedPerSecond }) {
  const magnitude = level === 'calm' ? 0 : Math.floor(Math.log2(Math.max(deniedPerSecond, 1 / 16)) / 2)
  return [LEVELS.indexOf(level), KINDS.indexOf(kind), -magnitude]
}

const collator = new Intl.Collator('en', { numeric: true })

function compareNames(a, b) {
  return collator.compare(a, b)
}

/** Returns the rows of a state whose name, mode or sentence contains a text. */
export function filtered(rows, { state, search }) {
  const text = search.trim().toLowerCase()
  return rows.filter(({ name, mode, finding }) => {
    if (state !== '' && finding.level !== state) return false
    return [name, `${mode} mode`, finding.sentence].some((shown) => shown.toLowerCase().includes(text))
  })
}

/** Returns how much has each level: rows, and headlines about processes, which have no row. */
export function levelCounts(rows, headlines = []) {
  const counts = { critical: 0, warning: 0, calm: 0 }
  const ofProcesses = headlines.filter(({ finding }) => finding.kind === 'process-gone')
  for (const { finding } of [...rows, ...ofProcesses]) counts[finding.level]++
  return counts
}
