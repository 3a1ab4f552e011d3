import { clientAddress } from '../../../src/cli/log/client-address.js'
import type { OwnNames } from '../../../src/cli/log/field-names.js'
import { emptyRequest } from '../../../src/cli/log/request-line.js'
import { lineFormats } from '../../../src/cli/replay/line-formats.js'

/** Reads the lines of one log. Returns what each of them is: a request and its client, or the kind. */
export function readLines(lines: readonly string[], names: OwnNames = {}) {
  const reader = lineFormats({ format: undefined, names }, (localMs) => localMs)
  return lines.map((line) => {
    const request = emptyRequest()
    const kind = reader.read(Buffer.from(line).toString('latin1'), request)
    if (kind !== 'request') return kind
    const { fields, forwarded, address, ...rest } = request
    return { ...rest, address: clientAddress(address, forwarded) }
  })
}

/** Reads a line, as text or as its fields. */
export function readJson(line: string | object, names?: OwnNames) {
  return readLines([typeof line === 'string' ? line : JSON.stringify(line)], names)[0]
}
