import { forgetWarnings } from '../../src/util/warn-once.js'

/**
 * Records process warnings, to be called before each test. Returns a function that lists the codes so far.
 */
export function listenForWarnings(): () => unknown[] {
  forgetWarnings()
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  return () => emitWarning.mock.calls.map(([, options]) => (options as { code?: unknown } | undefined)?.code)
}

/**
 * Records process warnings in each test of a file, or of a `describe`. Returns a function that lists the
 * codes so far.
 */
export function recordWarnings(): () => unknown[] {
  let codes: () => unknown[] = () => []
  beforeEach(() => {
    codes = listenForWarnings()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })
  return () => codes()
}
