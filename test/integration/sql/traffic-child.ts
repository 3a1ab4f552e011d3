import { answerQuestions } from '../../bench/harness/child.js'
import type { StormQuestion } from '../../bench/memcached-storm-child.js'
import { type MixedOrder, runMixed } from './mixed-traffic.js'
import { openInChild } from './open-in-child.js'
import { runStorm } from './storm.js'

const { store } = openInChild()

/** One process of several: mixed traffic, or a storm on one bucket. */
answerQuestions((question: MixedOrder | StormQuestion) =>
  'decisions' in question ? runMixed(store, question) : runStorm(store, question),
)
