import { readCommand } from './options.js'
import { DEFAULTS } from './scenario.js'

test('without options there is no scenario', () => {
  expect(readCommand([])).toEqual({ calibrate: false, validate: false, scenario: undefined })
  expect(readCommand(['--validate', '--calibrate'])).toMatchObject({ calibrate: true, validate: true })
})

test('overload has its own options', () => {
  expect(readCommand(['--overload'])).toMatchObject({ overload: { seeds: 3, text: '' }, scenario: undefined })
  const args = ['--overload', '--seeds=10', '--scenario', '2 times']
  expect(readCommand(args).overload).toEqual({ seeds: 10, text: '2 times' })
  expect(readCommand(['--overload', '--scenario=2']).overload).toEqual({ seeds: 3, text: '2' })
})

test('options change the default scenario', () => {
  const args = ['--processes=100', '--keys', '5', '--zipf=1.1', '--window=1m', '--lease', '--deny-cache=0']
  expect(readCommand(args).scenario).toEqual({
    ...DEFAULTS,
    processes: 100,
    keys: 5,
    zipf: 1.1,
    window: 60_000,
    lease: true,
    'deny-cache': 0,
  })
})

test.each([
  [
    '--processes=0',
    'simulate: processes must be a whole number from 1 to 1000, got 0. Did you mean processes: 1?',
  ],
  [
    '--processes=many',
    'processes must be a whole number from 1 to 1000, got "many". Did you mean processes: 10?',
  ],
  ['--processes', 'processes must be a whole number from 1 to 1000, got true'],
  ['--process=3', 'Did you mean processes?'],
  ['--zipf=-1', 'zipf must be a number from 0 to 5, got "-1". Did you mean zipf: 1?'],
  ['--store=redsi', "Did you mean store: 'redis'?"],
  [
    '--window=10',
    "window must be a string with a unit, or a number of at least 1000 milliseconds, got 10. Write '10s'",
  ],
  ['--lease=yes', 'lease must be an option without a value, got "yes". Write --lease.'],
  ['--store=memcached', 'Use --policy=fixed-window.'],
  ['--latency=2', 'p99 must be at least the latency (2), got 1'],
  ['--seconds=3600', 'seconds must be at most 250 at this rate (5000000 requests), got 3600'],
  ['--seeds=3', 'seeds must be absent without --overload, got 3. Add --overload.'],
  ['100', 'got the word "100". Use options, such as --processes=100.'],
])('%s ends with a message that names the option and the fix', (arg, message) => {
  expect(() => readCommand([arg])).toThrow(TypeError)
  expect(() => readCommand([arg])).toThrow(message)
})
