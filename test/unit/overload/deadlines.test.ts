import { Deadlines } from '../../../src/overload/deadlines.js'

/** Returns places that note when they expire, and what does that at a time. */
function placesOf() {
  const deadlines = new Deadlines()
  const expired: string[] = []
  const place = (name: string, expire = () => {}) => ({
    dueMs: Number.POSITIVE_INFINITY,
    previous: undefined,
    next: undefined,
    expire() {
      expired.push(name)
      expire()
    },
  })
  return { deadlines, place, expiredAt: (nowMs: number) => deadlines.expireDue(nowMs) ?? expired.splice(0) }
}

test('places expire once, each at its time, in any order of these', () => {
  const { deadlines, place, expiredAt } = placesOf()
  for (const dueMs of [30, 10, 20, 10.5]) deadlines.set(place(`${dueMs}`), dueMs)
  expect([9, 10, 10, 29, 30, 1000].map(expiredAt)).toEqual([[], ['10'], [], ['20', '10.5'], ['30'], []])
})

test('a place that is cleared does not expire, and one that is set again expires at the later time', () => {
  const { deadlines, place, expiredAt } = placesOf()
  const [cleared, moved] = [place('cleared'), place('moved')]
  deadlines.set(cleared, 10)
  deadlines.clear(cleared)
  deadlines.set(moved, 10)
  deadlines.set(moved, 20)
  expect([10, 19, 20].map(expiredAt)).toEqual([[], [], ['moved']])
})

test('a place that gets a time while others expire is not forgotten', () => {
  const { deadlines, place, expiredAt } = placesOf()
  const next = place('next')
  deadlines.set(
    place('first', () => deadlines.set(next, 15)),
    10,
  )
  deadlines.set(place('last'), 20)
  expect([10, 14, 15, 20].map(expiredAt)).toEqual([['first'], [], ['next'], ['last']])
})
