import { describeHalfMoved } from './cluster-half-moved.js'

describeHalfMoved('redis 6')
