/** Texts of more than 256 tokens each, whose beginnings are compared too. Written for this package. */
export const longTexts: readonly string[] = [
  "The harbour lies on the northern side of the bay, where the water is deep enough for large ships even at low tide. " +
    "Until the railway came, everything that the town needed arrived here: coal and timber, tea and salt, letters from " +
    "relatives who had moved away and the newspapers of the week before. The customs house, which is a museum today, had a " +
    "clock on each of its four sides, because captains paid by the hour and did not trust a single one. When the new road " +
    "was opened, the large firms left within ten years. What remained were the fishermen, a yard that repairs sailing boats, " +
    "and a ferry to the islands that runs four times a day in summer and once a week in winter. For a while nobody knew what " +
    "should become of the warehouses. Two burned down, one became a school of music, and in the others people have built " +
    "flats with high ceilings and thick walls, in which it never gets quite warm. On Saturdays there is a market on the " +
    "quay. You can buy bread and cheese there, vegetables from the farms behind the hill, and smoked fish, which visitors " +
    "carry home in newspaper as their grandparents did. In the evening, when the stalls are taken down and the gulls have " +
    "carried away what was left, old men sit on the steps below the lighthouse and argue about the weather, the council and " +
    "the price of diesel, until the lamps are lit and the last ferry sounds its horn.",
  "We studied whether a short daily walk lowers blood pressure in adults who sit for most of their working day. Between " +
    "March 2021 and June 2022, 412 employees of nine companies were assigned at random to one of two groups. The first group " +
    "walked for twenty minutes before lunch on every working day; the second group kept its habits and was offered the same " +
    "programme a year later. Blood pressure was measured at the start, after 6 weeks and after 24 weeks, by nurses who did " +
    "not know the groups. At the start, the mean systolic pressure was 134 mmHg in both groups. After 24 weeks it had fallen " +
    "by 6.1 mmHg in the group that walked and by 1.4 mmHg in the other one (difference 4.7 mmHg, 95 % confidence interval " +
    "2.9 to 6.5). The effect was larger in participants with higher values at the start, and did not depend on age, sex or " +
    "weight. Resting pulse and waist circumference changed little. Of the participants who walked, 81 % were still doing so " +
    "at the end of the study, most of them with colleagues. Three sprained an ankle; no other harm was reported. Our results " +
    "have limits: the companies had agreed to give their staff the time, the study was too short to count heart attacks or " +
    "strokes, and nobody measured what people ate. Even so, a walk that costs nothing and needs no equipment lowered blood " +
    "pressure by about half as much as a common drug does. Larger studies should find out whether the effect lasts.",
  "Before you open the housing, switch the pump off, pull the plug and wait for five minutes: the capacitor keeps its charge " +
    "for some time, and a shock can kill. Loosen the four screws on the front with a 4 mm hex key and lift the cover straight " +
    "up. Behind it you see the filter, the motor and a small board with three lights. If the green light is on, although the " +
    "plug is out, stop here and call the service. Turn the filter to the left by a quarter and pull it out. Rinse it under " +
    "warm water, without soap, until the water runs clear; a filter that stays grey, or that has a crack, must be replaced " +
    "(part 7731-B). Wipe the seal with a dry cloth. Do not grease it, because grease makes the rubber swell, and the pump " +
    "then draws air. Now look at the wheel behind the filter. It should turn freely with one finger. If it does not, remove " +
    "hair and threads with tweezers, never with a knife. Put everything back in the opposite order: filter, quarter turn to " +
    "the right until it clicks, cover, four screws. Tighten the screws crosswise and only by hand. Plug the pump in and " +
    "switch it on. The yellow light blinks three times while it fills; after about a minute, the green one should be on. If " +
    "the red light comes on instead, there is still air in the hose: switch off, raise the hose above the level of the tank, " +
    "and try again. After two attempts without success, note the number on the board and write to us.",
];
