/** Waiting times in words. */
import { describe, expect, it } from '@jest/globals'
import { duration, timeLeft } from '../src/duration.ts'

describe('duration', () => {
  it.each([
    [-5, '1 second'],
    [0.2, '1 second'],
    [17, '17 seconds'],
    [59.5, '60 seconds'],
    [60, '1 minute'],
    [61, '2 minutes'],
    [900, '15 minutes'],
    [3600, '1 hour'],
    [7 * 3600 + 41.5 * 60, '7 hours 42 minutes'],
    [28_800, '8 hours'],
  ])('says %p seconds as %p', (seconds, words) => {
    expect(duration(seconds)).toBe(words)
  })
})

describe('timeLeft', () => {
  it.each([
    [28_799, '7 hours 59 minutes'],
    [28_800, '8 hours'],
    [61, '1 minute'],
    [59.9, '59 seconds'],
  ])('promises no more than %p seconds: %p', (seconds, words) => {
    expect(timeLeft(seconds)).toBe(words)
  })
})
