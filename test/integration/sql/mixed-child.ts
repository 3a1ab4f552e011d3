import { answerQuestions } from '../../bench/harness/child.js'
import { runMixed } from './mixed-traffic.js'
import { openInChild } from './open-in-child.js'

const { store } = openInChild()

/** One process of several. */
answerQuestions(runMixed.bind(undefined, store))
