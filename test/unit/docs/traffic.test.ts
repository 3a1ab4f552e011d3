import { createTraffic } from '../../../docs/.vitepress/theme/policies/traffic.js'

test('a burst is sent from now on, a few milliseconds apart', () => {
  const traffic = createTraffic()
  traffic.burst(10, 1000)
  expect(traffic.takeDue(1000)).toEqual([1000])
  const rest = traffic.takeDue(1500)
  expect(rest).toHaveLength(9)
  expect(rest).toEqual([...rest].sort((a, b) => a - b))
  expect([traffic.takeDue(9999), traffic.hasMore()]).toEqual([[], false])
})

test('a stream is even, whatever the frames are', () => {
  const traffic = createTraffic()
  traffic.stream(4, 1000)
  const sent = [1000, 1001, 1700, 2000].flatMap((ms) => traffic.takeDue(ms))
  expect(sent).toEqual([1000, 1250, 1500, 1750, 2000])
})

test('a stream of another rate goes on after its last request, and is not sent more often', () => {
  const traffic = createTraffic()
  traffic.stream(1, 0)
  expect(traffic.takeDue(0)).toEqual([0])
  for (let ms = 10; ms <= 400; ms += 10) traffic.stream(2, ms) // somebody drags the slider
  expect(traffic.takeDue(1000)).toEqual([500, 1000])
  traffic.stream(10, 1050)
  expect(traffic.takeDue(1300)).toEqual([1100, 1200, 1300])
})

test('a stream ends, and begins again at once', () => {
  const traffic = createTraffic()
  traffic.stream(2, 0)
  traffic.takeDue(0)
  traffic.stream(0, 100)
  expect([traffic.takeDue(60_000), traffic.hasMore()]).toEqual([[], false])
  traffic.stream(2, 60_000)
  expect([traffic.takeDue(60_000), traffic.hasMore()]).toEqual([[60_000], true])
})

test('a burst during a stream is sent in order', () => {
  const traffic = createTraffic()
  traffic.stream(20, 0)
  traffic.burst(10, 20)
  const sent = traffic.takeDue(1000)
  expect(sent).toHaveLength(21 + 10)
  expect(sent).toEqual([...sent].sort((a, b) => a - b))
})
