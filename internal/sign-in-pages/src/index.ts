/** The pages of a sign-in, and one look for all pages. */
export { ago, timeLeft, waitingTime } from './duration.ts'
export { type Complaints, csrfField, field, inputAttributes, type Notice, noticeBox } from './form.ts'
export { card, type Frame, frame, type Html } from './frame.ts'
export { look } from './look.ts'
export { passcodeCard, type PasscodeCard } from './passcode-card.ts'
export { servicePageCard, type ServicePageCard } from './service-page-card.ts'
export { accountQuery, signInCard, type SignInCard } from './sign-in-card.ts'
